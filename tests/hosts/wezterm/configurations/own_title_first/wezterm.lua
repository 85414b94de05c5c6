local wezterm = require 'wezterm'
local config = wezterm.config_builder()
config.font_size = 12
wezterm.on('format-tab-title', function(tab) return ' mine:' .. tab.active_pane.title .. ' ' end)
return config
