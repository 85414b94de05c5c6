--- Fork and resume: `tally` shows in a split what it would run, whole, and runs it there if a person says so.
---
--- The page and its gate are the same as everywhere (`tally fork --here`). Nothing that a program printed becomes a
--- command here: of a pane only its number goes over.

local sidecar = require('tallylight.hosts.sidecar')
local text = require('tallylight.wire.text')

local M = {}

---@type tallylight.Options
M.options = nil

local TOAST_MS = 8000

--- Say something to the person at *window*.
---@param window table
---@param message string
function M.tell(window, message)
  window:toast_notification('tallylight', text.sanitise(message, 300), nil, TOAST_MS)
end

---@param verb 'fork'|'resume'
---@param window table
---@param pane table
local function split(verb, window, pane)
  local address = sidecar.address(pane:pane_id())
  local program = M.options.tally and sidecar.program(M.options.tally)
  if not program or not address then
    M.tell(window, verb .. ' needs the program tally and its sidecar')
    return
  end
  -- In the GUI's own domain: there the program is, and there the agent's process can be looked at.
  pane:split({
    args = { program, verb, '--here', '--location', 'vsplit', address },
    direction = 'Right',
    domain = { DomainName = 'local' },
  })
end

function M.fork(window, pane)
  split('fork', window, pane)
end

function M.resume(window, pane)
  split('resume', window, pane)
end

return M
