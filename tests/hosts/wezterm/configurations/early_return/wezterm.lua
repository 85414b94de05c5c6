local wezterm = require 'wezterm'
local config = wezterm.config_builder()
config.font_size = 12
if wezterm.target_triple:find 'windows' then
  config.default_prog = { 'pwsh.exe' }
  return config
end
config.term = 'wezterm'
return config
