--- The entrance for `wezterm.plugin.require`, which demands it here. The files are in `wezterm/`.

-- A required chunk gets its module's name and its own path.
local _, here = ...
local root = tostring(here):match('^(.*)[/\\]plugin[/\\]init%.lua$')
if root then
  package.path = root .. '/wezterm/?.lua;' .. root .. '/wezterm/?/init.lua;' .. package.path
end

return require('tallylight')
