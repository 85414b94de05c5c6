-- Tallylight was removed. This file does nothing: it is here because wezterm.lua still loads Tallylight and would fail
-- without it. Delete those lines there, and then this directory.
local wezterm = require('wezterm')
wezterm.log_warn('Tallylight was removed: delete the lines that load it, then ' .. wezterm.config_dir .. '/tallylight')

local M = {}

function M.apply_to_config(config)
  return config
end

function M.wrap(formatter)
  return formatter or function() end
end

function M.decorate(_, text)
  return text
end

function M.component()
  return ''
end

-- Whatever else it had: a function that returns nothing.
return setmetatable(M, {
  __index = function()
    return function() end
  end,
})
