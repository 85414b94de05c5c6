--- The actions of keys: jump to the agent that waits, open the list, snooze. Fork and resume are in hosts/fork.lua, the
--- panel is in hosts/panel.lua.
---
--- Each action is an event of our own with one handler, which `act.EmitEvent` emits: an `action_callback` would add a
--- handler for ever at each use. The sidecar knows where to jump to: the feed has the request.

local wezterm = require('wezterm')
local clock = require('tallylight.hosts.clock')
local forks = require('tallylight.hosts.fork')
local panels = require('tallylight.hosts.panel')
local sidecar = require('tallylight.hosts.sidecar')
local watch = require('tallylight.hosts.events')

local M = {}

M.NAMES = { 'jump', 'list', 'panel', 'fork', 'resume', 'snooze' }
--- The keys that are pressed after the prefix, as a key table of WezTerm's, and how long it waits for one.
local TABLE, PREFIX_MS = 'tallylight', 3000
--- Where a key that is taken goes.
local ELSEWHERE = { 'CTRL|ALT', 'ALT|SHIFT', 'CTRL|ALT|SHIFT' }

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

--- Bring the pane of that id to the front, if it is there; `none` says that there is nowhere to go.
---@param goal string
---@param window table
function M.go(goal, window)
  local target
  watch.each_pane(function(pane, tab, mux_window)
    if tostring(pane:pane_id()) == goal then
      target = { pane = pane, tab = tab, window = mux_window }
    end
  end)
  if target then
    show(target)
  elseif goal == 'none' then
    forks.tell(window, 'no agent needs you')
  end
end

--- Tell the sidecar what a person wants of a pane.
---@param verb string
---@param window table
---@param pane table
local function wish(verb, window, pane)
  if not sidecar.address(pane:pane_id()) then
    forks.tell(window, verb .. ' needs the program tally and its sidecar')
    return
  end
  watch.wish = string.format('%.0f %s %d', clock.now() * 1000, verb, pane:pane_id())
  watch.tick(window, true)
end

function M.jump(window, pane)
  wish('jump', window, pane)
end

function M.snooze(window, pane)
  wish('snooze', window, pane)
end

--- Open the list over the whole of a tab; where the tab is a server's, which knows of no pane of ours, in a new one.
---@param window table
---@param pane table
function M.list(window, pane)
  local program = forks.options.tally and sidecar.program(forks.options.tally)
  if not program then
    forks.tell(window, 'the list needs the program tally and its sidecar')
    return
  end
  local command = { args = { program, 'agents' }, cwd = wezterm.home_dir, domain = { DomainName = 'local' } }
  if pane:get_domain_name() ~= 'local' then
    window:mux_window():spawn_tab(command)
    return
  end
  local tab = pane:tab()
  tab:set_zoomed(false)
  command.direction = 'Bottom'
  pane:split(command)
  tab:set_zoomed(true)
end

--- The keys' names in the command palette, which lists each by the name of its event, with the key.
local EVENTS = {
  jump = 'Tallylight: go to the agent that waits',
  list = 'Tallylight: list of agents',
  panel = 'Tallylight: open or close the panel of this tab',
  fork = 'Tallylight: fork the conversation of this pane',
  resume = 'Tallylight: resume the conversation of this pane',
  snooze = 'Tallylight: snooze the agent of this pane',
}

--- Register the events, each under a name for configurations too. A fault is one toast and one line in the log.
function M.register()
  for _, name in ipairs(M.NAMES) do
    local act = M[name] or forks[name] or panels[name]
    local function guarded(window, pane, ...)
      local is_good, problem = pcall(act, window, pane, ...)
      if not is_good then
        wezterm.log_error('tallylight: ' .. name .. ': ' .. tostring(problem))
        pcall(forks.tell, window, name .. ' failed; see the log')
      end
    end
    wezterm.on('tallylight.' .. name, guarded)
    wezterm.on(EVENTS[name], guarded)
  end
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

--- The keys that are bound in a list of them.
---@param bindings table[]|nil
---@return table<string, boolean>
local function chords_of(bindings)
  local taken = {}
  for _, binding in ipairs(type(bindings) == 'table' and bindings or {}) do
    if type(binding) == 'table' then
      taken[M.chord(binding)] = true
    end
  end
  return taken
end

--- Where *key* is free: as it is, else with other modifiers; nil where all are taken.
---@param key tallylight.Key
---@param taken table<string, boolean>
---@return tallylight.Key|nil
local function free(key, taken)
  for _, mods in ipairs({ key.mods, table.unpack(ELSEWHERE) }) do
    local found = { key = key.key, mods = mods }
    if not taken[M.chord(found)] then
      return found
    end
  end
  return nil
end

--- The keys that were bound: those by themselves, and whether some follow the prefix.
---@type table[], boolean
local placed, has_table = {}, false

--- Append our keys to the user's. One that is bound already moves to free modifiers, or is left out.
---@param config table
---@param keys table<string, tallylight.Key|false>|false
---@return string # which key does what, for `tally doctor`
function M.bind(config, keys)
  keys = keys or {}
  local taken, behind, told = chords_of(config.keys), {}, {}
  local prefix = keys.prefix and free(keys.prefix, taken)
  placed = {}
  for _, name in ipairs(M.NAMES) do
    local key = keys[name]
    local found = key and (key.mods and free(key, taken) or prefix and not key.mods and key)
    if found then
      local list = key.mods and placed or behind
      list[#list + 1] = { key = found.key, mods = found.mods, action = wezterm.action.EmitEvent(EVENTS[name]) }
      told[#told + 1] = name .. '=' .. (key.mods and M.chord(found) or M.chord(prefix) .. ', ' .. key.key)
    elseif key then
      told[#told + 1] = name .. '='
    end
  end
  has_table = behind[1] ~= nil
  if has_table then
    local table_ = wezterm.action.ActivateKeyTable({ name = TABLE, one_shot = true, timeout_milliseconds = PREFIX_MS })
    placed[#placed + 1] = { key = prefix.key, mods = prefix.mods, action = table_ }
    local tables = {}
    for name, bindings in pairs(config.key_tables or {}) do
      tables[name] = bindings
    end
    tables[TABLE] = behind
    config.key_tables = tables
  end
  if placed[1] then
    config.keys = table.move(placed, 1, #placed, #(config.keys or {}) + 1, { table.unpack(config.keys or {}) })
  end
  return table.concat(told, '; ')
end

--- Whether a key of ours that was bound is not in the configuration any more: `config.keys = …` came after us.
---@param config table
---@return boolean
function M.are_lost(config)
  local taken = chords_of(config.keys)
  for _, binding in ipairs(placed) do
    if not taken[M.chord(binding)] then
      return true
    end
  end
  return has_table and (config.key_tables or {})[TABLE] == nil
end

return M
