local wezterm = require 'wezterm'
wezterm.on('format-tab-title', function(tab, _, _, conf, _, width)
  local palette = conf.resolved_palette
  return { { Background = { Color = palette.background } }, { Foreground = { AnsiColor = 'Red' } }, { Text = 'mine:' .. width } }
end)
wezterm.on('update-status', function(window) window:set_right_status('') end)
return { apply_to_config = function(config) config.tab_bar_at_bottom = true; config.use_fancy_tab_bar = false end }
