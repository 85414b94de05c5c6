--- What a person does at a key: jump to the pane that waits, list the agents; fork and resume are in hosts/fork.lua,
--- the panel is in hosts/panel.lua.
---
--- Each action is an event of our own with one handler, which `act.EmitEvent` emits: an `action_callback` would add a
--- handler for ever at each use.

local wezterm = require('wezterm')
local clock = require('tallylight.hosts.clock')
local forks = require('tallylight.hosts.fork')
local panels = require('tallylight.hosts.panel')
local panes = require('tallylight.pane.panes')
local text = require('tallylight.wire.text')
local watch = require('tallylight.hosts.events')
local words = require('tallylight.model.status')

local M = {}

M.NAMES = { 'jump', 'list', 'panel', 'fork', 'resume' }
--- The keys that are pressed after the prefix, as a key table of WezTerm's, and how long it waits for one.
local TABLE, PREFIX_MS = 'tallylight', 3000

---@class tallylight.Lit
---@field state tallylight.State
---@field pane table # Pane
---@field tab table # MuxTab
---@field window table # MuxWindow

--- Every pane that is lit, the most urgent first; of equals the one that has waited longest.
---@return tallylight.Lit[]
local function lit()
  local found = {}
  watch.each_pane(function(pane, tab, window)
    local state = panes.state(pane:pane_id(), pane:get_user_vars())
    if state then
      found[#found + 1] = { state = state, pane = pane, tab = tab, window = window }
    end
  end)
  table.sort(found, function(a, b)
    local first, second = words.URGENCY[a.state.status], words.URGENCY[b.state.status]
    if first ~= second then
      return first > second
    elseif a.state.since ~= b.state.since then
      return a.state.since < b.state.since
    end
    return a.state.pane_id < b.state.pane_id
  end)
  return found
end

--- Bring a pane to the front: its workspace, its tab, and its window where the system lets us.
---@param target { pane: table, tab: table, window: table }
local function show(target)
  local workspace = target.window:get_workspace()
  if workspace ~= wezterm.mux.get_active_workspace() then
    wezterm.mux.set_active_workspace(workspace)
  end
  local active = target.tab:active_pane()
  if active and active:pane_id() ~= target.pane:pane_id() then
    -- A zoomed pane would hide it.
    target.tab:set_zoomed(false)
  end
  target.pane:activate()
  pcall(function()
    target.window:gui_window():focus()
  end)
end

--- The pane to jump to from *here*: the next that waits, else the next that ended in some way; none that was put off.
---@param found tallylight.Lit[]
---@param here integer
---@param now number
---@return tallylight.Lit|nil
function M.next_of(found, here, now)
  local wanted = {}
  for _, each in ipairs(found) do
    local status = each.state.status
    local is_same_rank = wanted[1] == nil or (status == 'waiting') == (wanted[1].state.status == 'waiting')
    local is_snoozed = (each.state.snoozed_until or 0) > now
    if words.URGENCY[status] >= words.URGENCY.limited and is_same_rank and not is_snoozed then
      wanted[#wanted + 1] = each
    end
  end
  for index, each in ipairs(wanted) do
    if each.state.pane_id == here then
      return wanted[index % #wanted + 1]
    end
  end
  return wanted[1]
end

---@param seconds number
---@return string
function M.age(seconds)
  seconds = math.max(0, math.floor(seconds))
  if seconds < 60 then
    return seconds .. ' s'
  elseif seconds < 3600 then
    return seconds // 60 .. ' min'
  end
  return seconds // 3600 .. ' h'
end

---@param state tallylight.State
---@param now number
---@return string
function M.label(state, now)
  local parts = { words.mark(state.status, state.kind) .. ' ' .. (state.agent ~= '' and state.agent or 'agent') }
  local name = state.name ~= '' and state.name or state.project
  if name ~= '' then
    parts[#parts + 1] = name
  end
  parts[#parts + 1] = state.message ~= '' and state.message or (state.kind or state.status)
  if state.since > 0 then
    parts[#parts + 1] = M.age(now - state.since)
  end
  return text.sanitise(table.concat(parts, '  '), 120)
end

---@param window table
---@param pane table
function M.jump(window, pane)
  local target = M.next_of(lit(), pane:pane_id(), clock.now())
  if target then
    show(target)
  else
    forks.tell(window, 'no agent needs you')
  end
end

---@param window table
---@param pane table
function M.list(window, pane)
  local choices = {}
  local now = clock.now()
  for _, each in ipairs(lit()) do
    choices[#choices + 1] = { id = tostring(each.state.pane_id), label = M.label(each.state, now) }
  end
  if #choices == 0 then
    forks.tell(window, 'there are no agents')
    return
  end
  window:perform_action(
    wezterm.action.InputSelector({
      title = 'Agents',
      choices = choices,
      fuzzy = true,
      -- This is what stands above a list that is searched; its title does not.
      fuzzy_description = 'Agents: ',
      action = wezterm.action.EmitEvent('tallylight.chosen'),
    }),
    pane
  )
end

--- Bring the pane of that id to the front, if it is there.
---@param id string|nil
function M.go(id)
  local target
  watch.each_pane(function(pane, tab, window)
    if tostring(pane:pane_id()) == id then
      target = { pane = pane, tab = tab, window = window }
    end
  end)
  if target then
    show(target)
  end
end

--- A line of the list was chosen; nil if none was.
---@param id string|nil
function M.chosen(_, _, id)
  M.go(id)
end

--- What the command palette calls the keys: it lists each by the name of its event, with the key.
local EVENTS = {
  jump = 'Tallylight: go to the agent that waits',
  list = 'Tallylight: list of agents',
  panel = 'Tallylight: open or close the panel of this tab',
  fork = 'Tallylight: fork the conversation of this pane',
  resume = 'Tallylight: resume the conversation of this pane',
}

--- Register the events, each under a name for configurations too. A fault is one toast and one line in the log.
function M.register()
  for _, name in ipairs({ 'jump', 'list', 'panel', 'fork', 'resume', 'chosen' }) do
    local act = M[name] or forks[name] or panels[name]
    local function guarded(window, pane, ...)
      local is_good, problem = pcall(act, window, pane, ...)
      if not is_good then
        wezterm.log_error('tallylight: ' .. name .. ': ' .. tostring(problem))
        pcall(forks.tell, window, name .. ' failed; see the log')
      end
    end
    wezterm.on('tallylight.' .. name, guarded)
    if EVENTS[name] then
      wezterm.on(EVENTS[name], guarded)
    end
  end
end

--- The keys that are bound in a list of them.
---@param bindings table[]|nil
---@return table<string, boolean>
local function chords_of(bindings)
  local taken = {}
  for _, binding in ipairs(bindings or {}) do
    taken[M.chord(binding)] = true
  end
  return taken
end

--- Our keys: those that are pressed by themselves, and those after the prefix, each as WezTerm wants it.
---@param keys table<string, tallylight.Key|false>
---@return table[] direct, table[] behind
local function bindings_of(keys)
  local direct, behind = {}, {}
  for _, name in ipairs(M.NAMES) do
    local key = keys[name]
    if key and (key.mods or keys.prefix) then
      local list = key.mods and direct or behind
      list[#list + 1] = { key = key.key, mods = key.mods, action = wezterm.action.EmitEvent(EVENTS[name]) }
    end
  end
  if behind[1] then
    local table_ = wezterm.action.ActivateKeyTable({ name = TABLE, one_shot = true, timeout_milliseconds = PREFIX_MS })
    direct[#direct + 1] = { key = keys.prefix.key, mods = keys.prefix.mods, action = table_ }
  end
  return direct, behind
end

--- Append our keys to the user's, but for those that are bound already.
---@param config table
---@param keys table<string, tallylight.Key|false>|false
function M.bind(config, keys)
  if not keys then
    return
  end
  local direct, behind = bindings_of(keys)
  local bound, taken = { table.unpack(config.keys or {}) }, chords_of(config.keys)
  for _, binding in ipairs(direct) do
    if not taken[M.chord(binding)] then
      bound[#bound + 1] = binding
    end
  end
  config.keys = bound
  if behind[1] then
    local tables = {}
    for name, list in pairs(config.key_tables or {}) do
      tables[name] = list
    end
    tables[TABLE] = behind
    config.key_tables = tables
  end
end

--- Whether a key of ours that was bound is not in the configuration any more: `config.keys = …` came after us.
---@param config table
---@param keys table<string, tallylight.Key|false>|false
---@return boolean
function M.are_lost(config, keys)
  local direct, behind = bindings_of(keys or {})
  local taken = chords_of(config.keys)
  for _, binding in ipairs(direct) do
    if not taken[M.chord(binding)] then
      return true
    end
  end
  return behind[1] ~= nil and (config.key_tables or {})[TABLE] == nil
end

--- A key with its modifiers in one order, to compare.
---@param binding table
---@return string
function M.chord(binding)
  local mods = {}
  local key = tostring(binding.key)
  local named = tostring(binding.mods or 'NONE'):upper()
  -- WezTerm itself writes `P` with CTRL for ctrl+shift+p.
  named = key:find('^%u$') and not named:find('SHIFT', 1, true) and named .. '|SHIFT' or named
  for mod in named:gmatch('[%w_]+') do
    mods[#mods + 1] = mod
  end
  table.sort(mods)
  return table.concat(mods, '|') .. ' ' .. key:lower()
end

return M
