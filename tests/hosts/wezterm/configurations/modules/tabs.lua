local wezterm = require('wezterm')
local M = {}
local function base(path)
  return string.gsub(path, '(.*[/\\])(.*)', '%2')
end
function M.setup()
  wezterm.on('format-tab-title', function(tab)
    return base('/usr/mine:' .. tab.active_pane.title)
  end)
end
return M
