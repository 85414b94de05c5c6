--- Functions that remember what they made, within bounds. Pure.

local M = {}

--- A function that has *make* make a result once for each key, from the key and what is given beside it. After *most*
--- results it forgets them all. The key has to say all that the result is made of.
---@param most integer
---@param make fun(key: string, ...): any
---@return fun(key: string, ...): any
function M.of(most, make)
  local results, count = {}, 0
  return function(key, ...)
    local found = results[key]
    if found == nil then
      if count >= most then
        results, count = {}, 0
      end
      found = make(key, ...) or false
      results[key], count = found, count + 1
    end
    return found or nil
  end
end

return M
