--- Text from programs, made harmless to show: one line without controls or signs that turn its direction.
---
--- The sidecar has cleaned what it says by all the rules of `text.py`; this is for the rest. Pure; never raises.

local M = {}

--- Bytes that are looked at for each cell.
local BYTES_A_CELL = 4

--- Return *value* as one harmless line of at most *cells* characters; empty for a value that is no text.
---@param value any
---@param cells integer|nil # 256
---@return string
function M.sanitise(value, cells)
  cells = cells or 256
  if type(value) ~= 'string' then
    return ''
  end
  value = value:sub(1, cells * BYTES_A_CELL)
  if not utf8.len(value) then
    value = value:gsub('[\128-\255]', '')
  end
  -- C1 controls, the marks, isolates and overrides of bidirectional text, the separators of lines, and zero widths.
  value = value:gsub('[\t\n\r]', ' '):gsub('%c', ''):gsub('\u{61C}', ''):gsub('\xC2[\x80-\x9F]', '')
  value = value:gsub('\xE2\x80[\x8B-\x8F\xA8-\xAE]', ''):gsub('\xE2\x81[\xA0-\xAF]', ''):gsub('\u{FEFF}', '')
  local last = utf8.offset(value, cells + 1)
  return last and value:sub(1, last - 1) or value
end

return M
