--- OSC 1338 as the `tally` user variable carries it: `state=waiting;tool=claude;…`, percent-encoded.
--- https://github.com/bjhengen/vibeflow, with the keys and states of `osc1338.py`, whose results these are.
---
--- Pure. A value is untrusted: any program that can print to a pane can set it.

local text = require('tallylight.wire.text')
local words = require('tallylight.model.status')

---@class tallylight.Report
---@field status tallylight.Status|'clear'
---@field id string # `''` for the pane itself, `a/b` for a child
---@field kind tallylight.Kind|nil
---@field source 'protocol'|'notification'
---@field agent string|nil
---@field project string|nil
---@field session string|nil
---@field title string|nil
---@field cwd string|nil
---@field worktree string|nil
---@field mode string|nil
---@field message string|nil
---@field detail string|nil
---@field progress string|nil # `3/7`
---@field background integer|nil
---@field vars table<string, string>|nil # what the agent wants to be shown, by names of its own

local M = {}

--- Of a payload, in bytes: vibeflow's limit for a frame, less the frame.
M.LIMIT = 4096 - 8

local STRICT = { state = true, tool = true, project = true }
--- Keys of texts, the fields they become, and the cells kept of each.
local TEXTS = {
  tool = { 'agent', 64 },
  project = { 'project', 128 },
  session = { 'session', 256 },
  title = { 'title', 256 },
  cwd = { 'cwd', 1024 },
  worktree = { 'worktree', 1024 },
  mode = { 'mode', 64 },
  message = { 'message', 512 },
  detail = { 'detail', 256 },
}
local OTHERS = { id = true, kind = true, progress = true, background = true, source = true, vars = true }
--- Of what an agent names itself: how many there are, and the bytes of a name and of a text.
local MAX_VARS, MAX_NAME, MAX_VAR = 16, 64, 256

---@param value string
---@return string|nil # nil for a `%` that two hexadecimal digits do not follow
local function percent_decode(value)
  if value:gsub('%%%x%x', ''):find('%', 1, true) then
    return nil
  end
  return (value:gsub('%%(%x%x)', function(digits)
    return string.char(tonumber(digits, 16))
  end))
end

---@param id string
---@return boolean
function M.is_id(id)
  local count = 0
  for name in (id .. '/'):gmatch('([^/]*)/') do
    count = count + 1
    if count > 8 or #name > 64 or not name:find('^[%w._:@+-]+$') then
      return false
    end
  end
  return true
end

---@param value string
---@return string|nil
local function progress_of(value)
  local done, total = value:match('^(%d+)/(%d+)$')
  if not done or #done > 6 or #total > 6 then
    return nil
  end
  local n, all = tonumber(done), tonumber(total)
  return all > 0 and n <= all and string.format('%d/%d', n, all) or nil
end

---@param value string # `name=text`, one a line
---@return table<string, string>|nil
local function vars_of(value)
  local found, count = {}, 0
  for line in (value .. '\n'):gmatch('([^\n]*)\n') do
    local name, shown = line:match('^([%w_.-]+)=(.*)$')
    count = count + 1
    if count > MAX_VARS then
      break
    elseif name and #name <= MAX_NAME and #shown <= MAX_VAR then
      local clean = text.sanitise(shown, MAX_VAR):match('^ *(.-) *$')
      found[name] = clean ~= '' and clean or nil
    end
  end
  return next(found) and found or nil
end

--- The pairs we know, decoded. nil and a reason for a bad value of a known key, wherever it stands.
---@param payload string
---@return table<string, string>|nil, string|nil
local function read_fields(payload)
  local fields = {}
  for token in (payload .. ';'):gmatch('([^;]*);') do
    local key, encoded = token:match('^([^=]*)=(.*)$')
    if key and (STRICT[key] or TEXTS[key] or OTHERS[key]) then
      local value = percent_decode(encoded)
      if value and utf8.len(value) then
        if key == 'state' and value ~= 'clear' and (words.CONCLUDED[value] or not words.URGENCY[value]) then
          return nil, 'unknown-state'
        elseif key == 'id' and value ~= '' and not M.is_id(value) then
          return nil, 'malformed'
        end
        fields[key] = value
      elseif STRICT[key] or key == 'id' then
        return nil, 'bad-encoding'
      end
    end
  end
  if not fields.state then
    return nil, 'missing-state'
  end
  return fields
end

--- Read one value of the variable.
---@param payload any
---@return tallylight.Report|nil # nil for what cannot be read and is to be ignored
---@return string|nil # and then why: the reasons of Python's decoder
function M.decode(payload)
  if type(payload) ~= 'string' then
    return nil, 'missing-state'
  elseif #payload > M.LIMIT then
    return nil, 'too-long'
  elseif not utf8.len(payload) then
    return nil, 'malformed'
  end
  local fields, reason = read_fields(payload)
  if not fields then
    return nil, reason
  end
  ---@type tallylight.Report
  local report = { status = fields.state, id = fields.id or '', source = 'protocol' }
  for key, field in pairs(TEXTS) do
    if fields[key] then
      local value = text.sanitise(fields[key], field[2])
      report[field[1]] = value ~= '' and value or nil
    end
  end
  if report.status == 'waiting' then
    report.kind = words.KINDS[fields.kind or ''] and fields.kind or nil
    report.source = fields.source == 'notification' and 'notification' or 'protocol'
    if report.kind == 'limit' then
      report.status, report.kind = 'limited', nil
    end
  elseif report.status == 'done' and fields.kind == 'question' then
    report.kind = 'question'
  end
  report.vars = vars_of(fields.vars or '')
  report.progress = progress_of(fields.progress or '')
  if (fields.background or ''):find('^%d%d?%d?%d?$') then
    local count = tonumber(fields.background)
    report.background = count > 0 and count or nil
  end
  return report
end

--- *payload* without the mark of one that is only repeated: a heartbeat for a terminal that may have forgotten it.
---@param payload string
---@return string payload, boolean is_repeated
function M.without_beat(payload)
  local bare = payload:gsub(';beat=1$', '')
  return bare, #bare < #payload
end

return M
