local wezterm = require('wezterm')
local config = wezterm.config_builder()
require('look').apply(config)
require('tabs').setup()
return config
