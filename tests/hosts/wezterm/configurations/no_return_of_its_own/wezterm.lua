local wezterm = require 'wezterm'
local config = wezterm.config_builder()
config.font_size = 12
if wezterm.gui then
  return config
else
  return {}
end
