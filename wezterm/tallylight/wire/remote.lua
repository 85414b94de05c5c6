--- What a mux server's Lua tells the GUI's of a pane, in its variable `tally_mux`: `waiting:permission;tool=claude;…`.
---
--- The texts are those of the carrier. Pure. A value is untrusted: any program that can print to a pane can set it.

local carrier = require('tallylight.wire.carrier')
local text = require('tallylight.wire.text')
local words = require('tallylight.model.status')

local M = {}

--- The cells of each text.
local MOST = 256
local DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

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

---@param state tallylight.State
---@return string
function M.word(state)
  local word = state.status .. (state.kind and ':' .. state.kind or '')
  local fields = {
    { 'tool', state.agent },
    { 'project', state.name ~= '' and state.name or state.project },
    { 'detail', state.request or '' },
    { 'message', state.outcome or state.message },
  }
  for _, field in ipairs(fields) do
    if field[2] ~= '' then
      local clean = text.sanitise(field[2], MOST)
      word = word .. ';' .. field[1] .. '=' .. clean:gsub('[%%;]', { ['%'] = '%25', [';'] = '%3B' })
    end
  end
  return word
end

---@param value any
---@return tallylight.State|nil
function M.state(value)
  local status, kind, rest = tostring(value):match('^(%a+):?(%a*)(.*)$')
  if type(value) ~= 'string' or not words.URGENCY[status] or not (rest == '' or rest:find('^;')) then
    return nil
  end
  local said = carrier.decode('state=idle' .. rest)
  if not said or said.status ~= 'idle' then
    return nil
  end
  return {
    status = status,
    kind = words.KINDS[kind] and kind or nil,
    agent = said.agent or '',
    project = said.project or '',
    message = said.message or '',
    request = said.detail,
    source = 'screen',
    since = 0,
  }
end

return M
