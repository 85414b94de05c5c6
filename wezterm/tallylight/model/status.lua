--- Statuses: their order in a tab, colours and marks, for what is drawn without a sidecar. The same as in Python.
---
--- Pure data. A test compares every table here with Python's.

---@alias tallylight.Status 'working'|'waiting'|'limited'|'background'|'done'|'error'|'down'|'quiet'|'idle'|'active'
---@alias tallylight.Kind 'permission'|'question'|'input'|'auth'|'limit'

local M = {}

--- The urgency of statuses in a tab of several panes: no green while any of them works.
---@type table<tallylight.Status, integer>
M.PRECEDENCE = {
  waiting = 10,
  error = 9,
  down = 8,
  working = 7,
  background = 6,
  done = 5,
  limited = 4,
  quiet = 3,
  idle = 2,
  active = 1,
}

--- Statuses that are concluded, and never accepted from a program.
---@type table<string, boolean>
M.CONCLUDED = { down = true, limited = true, quiet = true }

---@type table<tallylight.Kind, boolean>
M.KINDS = { permission = true, question = true, input = true, auth = true, limit = true }

---@type table<tallylight.Status, string>
M.COLOURS = {
  working = '#3399FF',
  waiting = '#FFAA00',
  background = '#1F5C99',
  done = '#22AA55',
  limited = '#E5484D',
  error = '#E5484D',
  down = '#E5484D',
  quiet = '#888888',
  idle = '#888888',
}

--- Marks that distinguish statuses without their colour.
---@type table<tallylight.Status, string>
M.MARKS = {
  working = '●',
  waiting = '!',
  background = '○',
  done = '✓',
  limited = '◷',
  error = '×',
  down = '▼',
  quiet = '◇',
  idle = '·',
  active = ' ',
}

--- Follows the mark of an agent when another one has changed the same lines.
M.COLLISION = '≠'

--- Statuses that need a person: the whole tab is filled. For `done` only the mark is.
---@type table<tallylight.Status, boolean>
M.FILLED = { waiting = true, error = true, down = true }

M.STRIPE = '▌'
M.HOLLOW_STRIPE = '▯'
--- How long after its change a light pulses, in seconds.
M.PULSE_LASTS_S = 10

---@param status tallylight.Status
---@param kind tallylight.Kind|nil
---@return string # one cell; two for a turn that ended with a question
function M.mark(status, kind)
  if status == 'done' and kind == 'question' then
    return M.MARKS[status] .. '?'
  end
  if status == 'waiting' and kind == 'question' then
    return '?'
  end
  return M.MARKS[status]
end

return M
