--- Fork and resume: what `tally` plans is shown, and run in a split if a person says so.
---
--- The plan comes from `tally fork --json`, whose gate is the same as everywhere, as an argument list. Nothing that a
--- program printed becomes a command here.

local wezterm = require('wezterm')
local sidecar = require('tallylight.hosts.sidecar')
local text = require('tallylight.wire.text')

local M = {}

---@type tallylight.Options
M.options = nil

local TOAST_MS = 8000
--- Of a command as it is shown, in cells. What cannot be shown whole is not run.
local MAX_SHOWN = 1000

---@class tallylight.Plan
---@field argv string[]
---@field cwd string|nil
---@field env table<string, string>|nil
---@field notes string[]

--- What was shown to a person and not answered yet, by pane.
---@type table<integer, tallylight.Plan>
local plans = {}

--- Say something to the person at *window*.
---@param window table
---@param message string
function M.tell(window, message)
  window:toast_notification('tallylight', text.sanitise(message, 300), nil, TOAST_MS)
end

--- The plan in the answer of `tally fork --json`; nil and the refusal otherwise.
---@param out string|nil
---@param problem string
---@return tallylight.Plan|nil, string
function M.read_plan(out, problem)
  local is_json, found = pcall(wezterm.json_parse, out or '')
  if not is_json or type(found) ~= 'table' then
    return nil, problem ~= '' and problem or 'tally gave no answer'
  end
  if found.refused then
    return nil, type(found.text) == 'string' and found.text or tostring(found.refused)
  end
  if found.version ~= 1 or type(found.argv) ~= 'table' or #found.argv == 0 then
    return nil, 'tally is of another version'
  end
  local argv = {}
  for index, word in ipairs(found.argv) do
    if type(word) ~= 'string' or word:find('\0', 1, true) then
      return nil, 'tally gave an answer that is not valid'
    end
    argv[index] = word
  end
  local env = {}
  for name, value in pairs(type(found.env) == 'table' and found.env or {}) do
    if type(name) == 'string' and type(value) == 'string' then
      env[name] = value
    end
  end
  local cwd = type(found.cwd) == 'string' and found.cwd:sub(1, 1) == '/' and found.cwd or nil
  local notes = {}
  for index, note in ipairs(type(found.notes) == 'table' and found.notes or {}) do
    notes[index] = text.sanitise(note, 120)
  end
  return { argv = argv, cwd = cwd, env = next(env) and env or nil, notes = notes }, ''
end

--- An argument list as one line that shows where each argument ends.
---@param argv string[]
---@return string
function M.command_line(argv)
  local shown = {}
  for index, word in ipairs(argv) do
    shown[index] = word:find('^[%w%%+,./:=@_-]+$') and word or "'" .. word:gsub("'", "'\\''") .. "'"
  end
  return table.concat(shown, ' ')
end

--- Show what would run, and run it in a split if a person says so.
---@param verb 'fork'|'resume'
---@param window table
---@param pane table
local function split(verb, window, pane)
  local address = sidecar.address(pane:pane_id())
  if not M.options.tally or not address then
    M.tell(window, verb .. ' needs the program tally and its sidecar')
    return
  end
  local plan, problem = M.read_plan(sidecar.run(M.options.tally, { verb, '--json', address }))
  if not plan then
    M.tell(window, problem)
    return
  end
  local notes = #plan.notes > 0 and '  (' .. table.concat(plan.notes, ' ') .. ')' or ''
  local line = M.command_line(plan.argv) .. (plan.cwd and '  in ' .. plan.cwd or '')
  if text.sanitise(line, MAX_SHOWN) ~= line then
    M.tell(window, 'not run: the command cannot be shown as it is')
    return
  end
  plans[pane:pane_id()] = plan
  window:perform_action(
    wezterm.action.InputSelector({
      title = verb .. ' in a split',
      choices = {
        { id = 'run', label = line .. notes },
        { id = 'leave', label = 'cancel' },
      },
      action = wezterm.action.EmitEvent('tallylight.answered'),
    }),
    pane
  )
end

--- What was shown is to be run, or not.
---@param pane table
---@param id string|nil
function M.answered(_, pane, id)
  local plan = plans[pane:pane_id()]
  plans[pane:pane_id()] = nil
  if plan and id == 'run' then
    pane:split({ args = plan.argv, cwd = plan.cwd, set_environment_variables = plan.env, direction = 'Right' })
  end
end

function M.fork(window, pane)
  split('fork', window, pane)
end

function M.resume(window, pane)
  split('resume', window, pane)
end

return M
