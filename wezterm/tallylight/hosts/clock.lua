--- The time of day, finer than `os.time` has it.

local wezterm = require('wezterm')

local M = {}

--- Seconds since the epoch, with thousandths.
---@return number
function M.now()
  return tonumber(wezterm.strftime('%s%.3f')) or os.time()
end

return M
