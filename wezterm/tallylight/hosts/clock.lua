--- The time of day, finer than `os.time` has it.

local wezterm = require('wezterm')

local M = {}

--- Seconds since the epoch, with thousandths.
---@return number
function M.now()
  local is_good, text = pcall(wezterm.strftime, '%s%.3f')
  return is_good and tonumber(text) or os.time()
end

return M
