local wezterm = require('wezterm')
local Tab = {}
Tab.__index = Tab
function Tab:cells(tab)
  return { { Background = { Color = '#45475a' } }, { Foreground = { Color = '#1c1b19' } }, { Text = ' mine:' .. tab.active_pane.title } }
end
return { setup = function() wezterm.on('format-tab-title', function(tab) return Tab:cells(tab) end) end }
