--- Toasts: shows the sidecar's notifications, each once. The sidecar decides when, and words them.

local wezterm = require('wezterm')
local scenes = require('tallylight.snapshot.scene')
local text = require('tallylight.wire.text')

local M = {}

--- Of the file with the last ones, in bytes, and of a text in it, in cells.
M.LIMIT, M.CELLS = 64 * 1024, 300
--- How long a toast is shown, in milliseconds. WezTerm cannot withdraw one.
M.TIMEOUT_MS = 10000

--- Whether the person wants a toast of this status.
---@param wanted string[]|boolean
---@param status any
---@return boolean
local function is_wanted(wanted, status)
  for _, each in ipairs(type(wanted) == 'table' and wanted or {}) do
    if each == status then
      return true
    end
  end
  return wanted == true
end

--- Show new toasts in the file at *path*. The last one shown is remembered over a reload.
---@param window table # the window that is asked to
---@param path string
---@param wanted string[]|boolean # which statuses; true: all that the sidecar tells of
function M.show(window, path, wanted)
  local file = scenes.open(path)
  if not file then
    return
  end
  local is_json, found = pcall(wezterm.json_parse, file:read(M.LIMIT) or '')
  file:close()
  local last = tonumber(wezterm.GLOBAL.tallylight_toasted) or 0
  for _, toast in ipairs(is_json and type(found) == 'table' and found or {}) do
    local number, status = table.unpack(type(toast) == 'table' and toast or {})
    if math.type(number) == 'integer' and number > last then
      last = number
      wezterm.GLOBAL.tallylight_toasted = number
      if is_wanted(wanted, status) then
        window:toast_notification(text.sanitise(toast[3], M.CELLS), text.sanitise(toast[4], M.CELLS), nil, M.TIMEOUT_MS)
      end
    end
  end
end

return M
