--- The asynchronous half: what is heard and seen is taken in, told to the sidecar, and drawn anew.
---
--- Runs in `user-var-changed`, `update-status` and `window-focus-changed`, at most once a second but for a changed
--- variable. An idle WezTerm emits none of these, so while a light is lit a slow timer looks too; each of its rounds
--- leaves a little memory behind until the next reload, which is WezTerm's way with `call_after`.

local wezterm = require('wezterm')
local feed = require('tallylight.hosts.feed')
local panes = require('tallylight.pane.panes')
local sidecar = require('tallylight.hosts.sidecar')
local titles = require('tallylight.ui.titles')
local toasts = require('tallylight.ui.toasts')

local M = {}

---@type tallylight.Options
M.options = nil

--- Ticks after which a title handler that was never called is another's.
local NEVER_CALLED = 20
--- Looks a second at what is said. What comes faster is heard, and shown by a look a second later.
local MAX_NEWS = 20

local life = ''
local last_tick = 0
local last_feed, fed_pid
local is_timed = false
local ticks = 0
local news_at, news, is_late = 0, 0, false
---@type table<integer, string> # what was drawn last, by pane
local drawn = {}

--- Every pane of every window and workspace, dead ones left out.
---@param see fun(pane: table, tab: table, window: table)
function M.each_pane(see)
  for _, window in ipairs(wezterm.mux.all_windows()) do
    local is_there, tabs = pcall(window.tabs, window)
    for _, tab in ipairs(is_there and tabs or {}) do
      local is_alive, found = pcall(tab.panes, tab)
      for _, pane in ipairs(is_alive and found or {}) do
        pcall(see, pane, tab, window)
      end
    end
  end
end

--- The panes in front of a person: those of the active tab of each window that has the focus.
---@return integer[] ids, table<integer, boolean> set
local function in_front()
  local ids, set = {}, {}
  for _, window in ipairs(wezterm.gui.gui_windows()) do
    pcall(function()
      if window:is_focused() then
        for _, pane in ipairs(window:active_tab():panes()) do
          ids[#ids + 1] = pane:pane_id()
          set[pane:pane_id()] = true
        end
      end
    end)
  end
  return ids, set
end

--- The words of `tally_status` in base64, as the variable is set by. Ours, every one: nothing of a program's.
local ENCODED = {
  working = 'd29ya2luZw==',
  waiting = 'd2FpdGluZw==',
  background = 'YmFja2dyb3VuZA==',
  done = 'ZG9uZQ==',
  error = 'ZXJyb3I=',
  down = 'ZG93bg==',
  idle = 'aWRsZQ==',
}

--- Show what changed: a variable set on the pane itself makes WezTerm draw its titles anew, and is there for others.
---@param states table<integer, tallylight.State>
---@param by_id table<integer, table>
local function publish(states, by_id)
  for id, pane in pairs(by_id) do
    local state = states[id]
    local words = state and state.status or ''
    if (drawn[id] or '') ~= words then
      -- A mux pane takes no notice.
      local value = ENCODED[words] or ''
      if pcall(pane.inject_output, pane, '\27]1337;SetUserVar=tally_status=' .. value .. '\7') then
        drawn[id] = words
      end
    end
  end
  for id in pairs(drawn) do
    if not by_id[id] then
      drawn[id] = nil
    end
  end
end

--- Come back in a while if something is lit: WezTerm may be silent until then.
---@param states table<integer, tallylight.State>
local function come_back(states)
  if is_timed or M.options.pulse or M.options.tick_seconds == 0 or next(states) == nil then
    return
  end
  is_timed = true
  wezterm.time.call_after(M.options.tick_seconds, function()
    is_timed = false
    local windows = wezterm.gui.gui_windows()
    if windows[1] then
      M.tick(windows[1], true)
    end
  end)
end

---@param window table
local function pulse(window)
  titles.is_dim = not titles.is_dim
  -- Two strings that draw nothing: WezTerm redraws the tab bar, and comes back, when this one changes.
  window:set_left_status(titles.is_dim and wezterm.format({ 'ResetAttributes' }) or '')
end

--- One look at everything.
---@param window table # a GUI window
---@param is_news boolean # whether there is something to be told at once
function M.tick(window, is_news)
  local now = os.time()
  if not is_news and now == last_tick then
    return
  end
  last_tick = now
  if life == '' then
    life = tostring(now) .. tostring(M):gsub('^table: ', '-')
  end
  local known = sidecar.ensure(M.options.tally, now)
  local is_new, written = sidecar.refresh()
  local seen, by_id, states, living, vars = {}, {}, {}, {}, {}
  M.each_pane(function(pane)
    local id = pane:pane_id()
    local user_vars = pane:get_user_vars()
    panes.hear(id, user_vars.tally, now, false)
    seen[id] = { title = pane:get_title(), is_local = pane:get_domain_name() == 'local' }
    by_id[id], living[id], vars[id] = pane, true, user_vars
  end)
  panes.keep(living)
  -- Seconds are all the clock we have: a snapshot of the same second may be the one from before.
  panes.tick(now, is_new and written > panes.last_heard() + 1)
  for id, user_vars in pairs(vars) do
    states[id] = panes.state(id, user_vars)
  end
  publish(states, by_id)
  local front, is_front = in_front()
  if known then
    local data = feed.encode(life, seen, front)
    -- Another sidecar has heard nothing yet.
    if known.pid ~= fed_pid then
      fed_pid, last_feed = known.pid, nil
    end
    if data and data ~= last_feed and feed.write(known.feed, data) then
      last_feed = data
    end
  end
  toasts.show(window, states, is_front, M.options.toasts, now)
  if M.options.pulse then
    pulse(window)
  end
  come_back(states)
  ticks = ticks + 1
  if ticks == NEVER_CALLED and M.options.title and M.options.title ~= 'manual' and not titles.is_called then
    wezterm.log_warn('tallylight: another format-tab-title handler came first; see `wrap` in docs/wezterm.md')
  end
end

--- Look at what was just said, or later where that is too often.
---@param window table
---@param now number
local function tell(window, now)
  if now ~= news_at then
    news_at, news = now, 0
  end
  news = news + 1
  if news <= MAX_NEWS then
    M.tick(window, true)
  elseif not is_late then
    is_late = true
    wezterm.time.call_after(1, function()
      is_late = false
      local windows = wezterm.gui.gui_windows()
      if windows[1] then
        M.tick(windows[1], true)
      end
    end)
  end
end

--- A fault costs one round and one line, never a handler of somebody else's.
---@param what string
---@param call fun()
local function guarded(what, call)
  local is_good, problem = pcall(call)
  if not is_good and not M.is_told then
    M.is_told = true
    wezterm.log_error('tallylight: ' .. what .. ': ' .. tostring(problem))
  end
end

function M.register()
  wezterm.on('user-var-changed', function(window, pane, name, value)
    if name == 'tally' then
      guarded('user-var-changed', function()
        local now = os.time()
        if panes.hear(pane:pane_id(), value, now, true) then
          tell(window, now)
        else
          M.tick(window, false)
        end
      end)
    end
  end)
  for _, event in ipairs({ 'update-status', 'window-focus-changed' }) do
    wezterm.on(event, function(window)
      guarded(event, function()
        M.tick(window, event ~= 'update-status')
      end)
    end)
  end
end

return M
