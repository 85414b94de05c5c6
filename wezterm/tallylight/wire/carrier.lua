--- OSC 1338 as the `tally` user variable carries it, and `tally_mux`: what is read of them without a sidecar, which is
--- the status of the pane itself. https://github.com/bjhengen/vibeflow
---
--- Pure. A value is untrusted: any program that can print to a pane can set it.

local words = require('tallylight.model.status')

local M = {}

--- Of a payload, in bytes: vibeflow's limit for a frame, less the frame.
M.LIMIT = 4096 - 8
local DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

--- The status and the kind that a value of the variable gives the pane itself; nil where it gives none.
---@param payload any
---@return tallylight.Status|nil, tallylight.Kind|nil
function M.root(payload)
  if type(payload) ~= 'string' or #payload > M.LIMIT then
    return nil
  end
  local fields = ';' .. payload .. ';'
  local status, kind = fields:match('.*;state=(%a+);'), fields:match('.*;kind=(%a+);')
  if not words.MARKS[status] or words.CONCLUDED[status] or fields:find(';id=[^;]') then
    return nil
  elseif status == 'waiting' and kind == 'limit' then
    return 'limited'
  end
  return status, words.KINDS[kind] and kind or nil
end

--- The same of what a mux server tells: `waiting:permission;…`.
---@param value any
---@return tallylight.Status|nil, tallylight.Kind|nil
function M.server(value)
  local status, kind = (type(value) == 'string' and value or ''):match('^(%a+):?(%a*)')
  return words.MARKS[status] and status or nil, words.KINDS[kind] and kind or nil
end

--- *payload* without the mark of one that is only repeated: a heartbeat for a terminal that may have forgotten it.
---@param payload string
---@return string payload, boolean is_repeated
function M.without_beat(payload)
  local bare = payload:gsub(';beat=1$', '')
  return bare, #bare < #payload
end

--- As a variable is set by.
---@param value string
---@return string
function M.base64(value)
  local encoded = {}
  for at = 1, #value, 3 do
    local first, second, third = value:byte(at, at + 2)
    local bits = first << 16 | (second or 0) << 8 | (third or 0)
    for shift = 18, 0, -6 do
      local digit = (bits >> shift & 63) + 1
      encoded[#encoded + 1] = DIGITS:sub(digit, digit)
    end
    if not third then
      encoded[#encoded] = '='
      encoded[#encoded - 1] = second and encoded[#encoded - 1] or '='
    end
  end
  return table.concat(encoded)
end

return M
