local wezterm = require 'wezterm'
return { font_size = 12, color_scheme = 'Nord', keys = { { key = 'x', mods = 'CTRL', action = wezterm.action.Nop } } }
