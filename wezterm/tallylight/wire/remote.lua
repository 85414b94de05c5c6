--- What a mux server's Lua tells the GUI's of a pane, in its variable `tally_mux`:
--- `waiting:permission;pane=4711.3;since=1700000000;tool=claude;…`.
---
--- The texts are those of the carrier. `pane` is its server and its number there: a GUI that attaches again gives it
--- another number. Pure. A value is untrusted: any program that can print to a pane can set it.

local carrier = require('tallylight.wire.carrier')
local text = require('tallylight.wire.text')
local words = require('tallylight.model.status')

local M = {}

--- The cells of each text.
local MOST = 256
local DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
--- Times, in seconds since the epoch.
local TIMES = { 'since', 'snoozed_until', 'muted_until' }
--- Bytes of a time, and of the name of a pane.
local TIME_BYTES, PANE_BYTES = 12, 24

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
---@param server integer # the process
---@return string
function M.word(state, server)
  local word = state.status .. (state.kind and ':' .. state.kind or '')
  word = string.format('%s;pane=%d.%d', word, server, state.pane_id)
  for _, name in ipairs(TIMES) do
    word = word .. ((state[name] or 0) > 0 and string.format(';%s=%.0f', name, state[name]) or '')
  end
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
  local state = {
    status = status,
    kind = words.KINDS[kind] and kind or nil,
    agent = said.agent or '',
    project = said.project or '',
    message = said.message or '',
    request = said.detail,
    source = 'screen',
  }
  for _, name in ipairs(TIMES) do
    local time = (rest .. ';'):match(';' .. name .. '=(%d+);') or '0'
    state[name] = #time <= TIME_BYTES and tonumber(time) or 0
  end
  local pane = (rest .. ';'):match('^;pane=(%d+%.%d+);') or ''
  if state.since > 0 and pane ~= '' and #pane <= PANE_BYTES then
    state.server_pane = pane
    state.turn = status == 'done' and string.format('%s %d', pane, state.since) or nil
  end
  return state
end

return M
