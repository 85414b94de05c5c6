local wezterm = require 'wezterm'
local config = wezterm.config_builder()
config.font_size = 12
config.colors = { background = '#101418' }
local bar = require 'bar'
bar.apply_to_config(config, { position = 'bottom' })
return config
