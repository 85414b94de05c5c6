--- The sidecar's scene: all that is drawn, in one JSON file that is replaced as a whole. `scene.py` describes it.
--- Called in asynchronous events only.
---
--- Lua cannot ask for a file's date, so the head of the file is read, which holds the time of writing; the rest only if
--- that is another one. Who can write the file is who runs the sidecar; it is opened for writing too, because then
--- nothing waits where it is a FIFO, and only what has a size is read.

local wezterm = require('wezterm')
local text = require('tallylight.wire.text')
local words = require('tallylight.model.status')

---@class tallylight.Scene
---@field written string
---@field tabs table<string, tallylight.State> # by the id of the tab
---@field paints table<string, table<tallylight.Status, tallylight.Paint>>
---@field words table<string, string> # on a mux server: what to tell of each pane
---@field summary string

local M = {}

--- Size of the head, in bytes: `written` comes before the tabs.
M.HEAD = 128
--- Of the whole file: a tab has about 1 kB.
M.LIMIT = 1024 * 1024
--- The number of the error of a disk that is read-only.
M.READ_ONLY = 30

---@param value any
---@return table
local function table_of(value)
  return type(value) == 'table' and value or {}
end

--- A state with the fields that are drawn, each of its type; nil for what is none.
---@param drawn any
---@return tallylight.State|nil
local function state_of(drawn)
  if type(drawn) ~= 'table' or not words.MARKS[drawn.status] or type(drawn.mark) ~= 'string' then
    return nil
  end
  for _, name in ipairs({ 'mark', 'name', 'what', 'agent', 'project', 'message', 'stripe', 'kind' }) do
    drawn[name] = text.sanitise(drawn[name])
  end
  drawn.since = type(drawn.since) == 'number' and drawn.since or 0
  drawn.kind = drawn.kind ~= '' and drawn.kind or nil
  drawn.pane_id = drawn.pane
  return drawn
end

--- The scene in the text of its file; nil if it is none.
---@param data any
---@return tallylight.Scene|nil
function M.parse(data)
  local is_json, found = pcall(wezterm.json_parse, data)
  if not is_json or type(found) ~= 'table' or found.version ~= 1 then
    return nil
  end
  local tabs = {}
  for id, drawn in pairs(table_of(found.tabs)) do
    tabs[id] = state_of(drawn)
  end
  return {
    written = tostring(found.written),
    tabs = tabs,
    paints = table_of(found.paints),
    words = table_of(found.words),
    summary = type(found.summary) == 'string' and found.summary or '',
  }
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

--- Read the file if it was written since *written*.
---@param path string
---@param written string|nil # as returned before
---@return string|nil data # the text, where there is something new
---@return string|nil written # when it was written; nil if there is no file
---@return boolean is_stale # whether its writer shows something else by now, and cannot write it
function M.read(path, written)
  local file, is_stale = M.open(path)
  if not file then
    return nil, nil, false
  end
  local head = file:read(M.HEAD) or ''
  local now = head:match('"written": ?([%d.]+)')
  is_stale = is_stale or head:find('"stale": true', 1, true) ~= nil
  local data = now ~= nil and now ~= written and head .. (file:read(M.LIMIT) or '') or nil
  file:close()
  return data, now or written, is_stale
end

return M
