local wezterm = require 'wezterm'
local function merge(...)
  local all = {}
  for _, each in ipairs({ ... }) do
    for k, v in pairs(each) do all[k] = v end
  end
  return all
end
local look = { font_size = 12 }
local keys = { keys = {} }
return merge(look, keys)
