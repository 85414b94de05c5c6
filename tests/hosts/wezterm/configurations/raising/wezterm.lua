local wezterm = require 'wezterm'
local config = wezterm.config_builder()
config.font_size = 12
wezterm.on('format-tab-title', function(tab)
  return { { Text = tab.active_pane.no_such_field } }
end)
return config
