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
---@param target tallylight.Lit
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
  if state.project ~= '' then
    parts[#parts + 1] = state.project
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

--- A line of the list was chosen; nil if none was.
---@param id string|nil
function M.chosen(_, _, id)
  for _, each in ipairs(id and lit() or {}) do
    if tostring(each.state.pane_id) == id then
      show(each)
      return
    end
  end
end

--- Register the events. A fault is one toast and one line in the log.
function M.register()
  for _, name in ipairs({ 'jump', 'list', 'panel', 'fork', 'resume', 'chosen' }) do
    local act = M[name] or forks[name] or panels[name]
    wezterm.on('tallylight.' .. name, function(window, pane, ...)
      local is_good, problem = pcall(act, window, pane, ...)
      if not is_good then
        wezterm.log_error('tallylight: ' .. name .. ': ' .. tostring(problem))
        pcall(forks.tell, window, name .. ' failed; see the log')
      end
    end)
  end
end

local PALETTE = {
  jump = 'go to the agent that waits',
  list = 'list of agents',
  panel = 'open or close the panel of this tab',
  fork = 'fork the conversation of this pane',
  resume = 'resume the conversation of this pane',
}

--- The entries of the command palette.
---@return table[]
function M.palette()
  local entries = {}
  for _, name in ipairs(M.NAMES) do
    local action = wezterm.action.EmitEvent('tallylight.' .. name)
    entries[#entries + 1] = { brief = 'Tallylight: ' .. PALETTE[name], action = action }
  end
  return entries
end

--- Append our keys to the user's, but for those that are bound already.
---@param config table
---@param keys table<string, tallylight.Key|false>|false
function M.bind(config, keys)
  if not keys then
    return
  end
  local bound = {}
  local taken = {}
  for _, binding in ipairs(config.keys or {}) do
    bound[#bound + 1] = binding
    taken[M.chord(binding)] = true
  end
  for _, name in ipairs(M.NAMES) do
    local key = keys[name]
    if key and not taken[M.chord(key)] then
      bound[#bound + 1] = { key = key.key, mods = key.mods, action = wezterm.action.EmitEvent('tallylight.' .. name) }
    end
  end
  config.keys = bound
end

--- Whether a key of ours that was bound is not in the configuration any more: `config.keys = …` came after us.
---@param config table
---@param keys table<string, tallylight.Key|false>|false
---@return boolean
function M.are_lost(config, keys)
  local taken = {}
  for _, binding in ipairs(config.keys or {}) do
    taken[M.chord(binding)] = true
  end
  for _, name in ipairs(keys and M.NAMES or {}) do
    if keys[name] and not taken[M.chord(keys[name])] then
      return true
    end
  end
  return false
end

--- A key with its modifiers in one order, to compare.
---@param binding table
---@return string
function M.chord(binding)
  local mods = {}
  for mod in tostring(binding.mods or 'NONE'):upper():gmatch('[%w_]+') do
    mods[#mods + 1] = mod
  end
  table.sort(mods)
  return table.concat(mods, '|') .. ' ' .. tostring(binding.key):lower()
end

return M
