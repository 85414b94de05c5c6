local wezterm = require 'wezterm'
local M = wezterm.config_builder()
local function setup(config) config.font_size = 12 return config end
do
  local names = { 'a', 'b' }
  while #names > 0 do table.remove(names) end
end
repeat local done = true until done
return (setup(M))
