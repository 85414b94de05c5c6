--- The sidecar's snapshot: one JSON file, replaced as a whole. Called in asynchronous events only.
---
--- Lua cannot ask for a file's date, so the head of the file is read, which holds the time of writing; the rest only if
--- that is another one. Nothing in the file is believed: types are checked, sizes bounded, texts sanitised. It is
--- opened for writing too, because then nothing waits where it is a FIFO, and only what has a size is read.

local wezterm = require('wezterm')
local text = require('tallylight.wire.text')
local titles = require('tallylight.evidence.titles')
local words = require('tallylight.model.status')

local M = {}

--- Of the head, in bytes: `written` stands before the panes.
M.HEAD = 512
--- Of the whole file: a pane has about 1 kB.
M.LIMIT = 1024 * 1024
M.MAX_PANES = 1000
--- The number of the error of a disk that is read-only.
M.READ_ONLY = 30

---@param value any
---@return number
local function number(value)
  return type(value) == 'number' and value == value and math.abs(value) < 1e15 and value or 0
end

--- What a turn that is over came to: `All 12 tests pass. (+120 −14)`; nil if that is not known.
---@param pane table
---@return string|nil
local function outcome_of(pane)
  local lines = type(pane.diffstat) == 'table' and pane.diffstat or {}
  local added, removed = number(lines[1]), number(lines[2])
  local outcome = text.sanitise(pane.outcome)
  if added > 0 or removed > 0 then
    outcome = string.format('%s (+%.0f −%.0f)', outcome, added, removed):match('^ ?(.*)$')
  end
  return outcome ~= '' and outcome or nil
end

---@param pairs_ any # the variables of a pane, each a name and a text
---@return table<string, string>|nil
local function vars_of(pairs_)
  local found = {}
  for _, pair in ipairs(type(pairs_) == 'table' and pairs_ or {}) do
    if type(pair) == 'table' and type(pair[1]) == 'string' then
      found[pair[1]] = text.sanitise(pair[2])
    end
  end
  return next(found) and found or nil
end

--- Whether another agent has changed the same lines. Those are the first in the list.
---@param pane table
---@return boolean
local function collides(pane)
  local first = type(pane.collisions) == 'table' and pane.collisions[1]
  return type(first) == 'table' and first.same == true
end

---@param pane any
---@return string|nil, tallylight.State|nil
local function entry_of(pane)
  if type(pane) ~= 'table' or type(pane.id) ~= 'string' or not words.URGENCY[pane.status] then
    return nil
  end
  local reason = type(pane.reason) == 'table' and pane.reason or {}
  local what = text.sanitise(pane.what)
  local asks = what ~= '' and what or text.sanitise(pane.question)
  return pane.id,
    {
      status = pane.status,
      kind = words.KINDS[pane.kind] and pane.kind or nil,
      agent = text.sanitise(pane.agent, 64),
      project = text.sanitise(pane.project, 128),
      name = text.sanitise(pane.name, 40),
      message = asks ~= '' and asks or text.sanitise(pane.message),
      request = what ~= '' and titles.request(what) or nil,
      outcome = outcome_of(pane),
      source = words.RANKS[reason.source] and reason.source or 'heuristic',
      since = number(pane.since),
      snoozed_until = number(pane.snoozed_until),
      muted_until = number(pane.muted_until),
      limited_until = number(pane.limited_until),
      collides = collides(pane),
      vars = vars_of(pane.vars),
    }
end

--- The panes in the text of a snapshot of the sidecar *pid*; nil if it is none.
---@param data string
---@param pid integer
---@return table<string, tallylight.State>|nil
---@return integer # the last feed that its writer had read
function M.parse(data, pid)
  local is_json, found = pcall(wezterm.json_parse, data)
  if not is_json or type(found) ~= 'table' then
    return nil, 0
  end
  if found.version ~= 1 or found.host ~= 'wezterm' or found.pid ~= pid or type(found.panes) ~= 'table' then
    return nil, 0
  end
  local entries = {}
  for index = 1, math.min(#found.panes, M.MAX_PANES) do
    local id, entry = entry_of(found.panes[index])
    if id then
      entries[id] = entry
    end
  end
  return entries, math.type(found.heard) == 'integer' and found.heard or 0
end

--- Open a file that has a size, and nothing that is waited for.
---@param path string
---@return file*|nil
---@return boolean # whether nobody can write it
function M.open(path)
  local file, _, code = io.open(path, 'r+')
  -- Of a FIFO nobody says that.
  local is_read_only = code == M.READ_ONLY
  if is_read_only then
    file = io.open(path, 'r')
  end
  if file and (file:seek('end') or 0) > 0 then
    file:seek('set')
    return file, is_read_only
  elseif file then
    file:close()
  end
  return nil, false
end

--- Read the file if it was written anew since *written*.
---@param path string
---@param pid integer
---@param written string|nil # as returned before
---@return table<string, tallylight.State>|nil # nil where there is nothing new, or nothing to be read
---@return string|nil # when it was written; nil if there is no file
---@return boolean # whether its writer shows something else by now, and cannot write it
---@return integer|nil # the last feed that its writer had read, where there is something new
---@return string|nil # the text of the file, where there is something new
function M.read(path, pid, written)
  local file, is_stale = M.open(path)
  if not file then
    return nil, nil, false
  end
  local head = file:read(M.HEAD) or ''
  local now = head:match('"written":([%d.]+)')
  is_stale = is_stale or head:find('"stale":true', 1, true) ~= nil
  if now == nil or now == written then
    file:close()
    return nil, written, is_stale
  end
  local data = head .. (file:read(M.LIMIT) or '')
  file:close()
  if #data > M.LIMIT then
    return nil, now, is_stale
  end
  local entries, heard = M.parse(data, pid)
  return entries, now, is_stale, heard, entries and data or nil
end

return M
