--- The asynchronous half: reads values and events, passes them to the sidecar, and redraws.
---
--- Runs in `user-var-changed`, `update-status`, `window-focus-changed` and `window-config-reloaded`, at most once a
--- second except for a changed variable. An idle WezTerm emits none. So a shell waits for the sidecar, and ends when
--- there is news. A slow timer looks too. One function waits for all that repeats: WezTerm keeps each function given to
--- `call_after` until the next reload.

local wezterm = require('wezterm')
local carrier = require('tallylight.wire.carrier')
local clock = require('tallylight.hosts.clock')
local feed = require('tallylight.hosts.feed')
local panes = require('tallylight.pane.panes')
local sidecar = require('tallylight.hosts.sidecar')
local titles = require('tallylight.ui.titles')
local toasts = require('tallylight.ui.toasts')
local words = require('tallylight.model.status')

local M = {}

---@type tallylight.Options
M.options = nil
--- Whether a later line of the configuration has taken our keys away; asked once.
---@type fun(): boolean
M.are_keys_lost = nil
--- Whether WezTerm is to ask our handler for titles.
---@type fun(): boolean
M.has_titles = nil
--- Brings the pane of that id to the front, or says that none needs anybody.
---@type fun(goal: string, window: table)
M.show = nil
--- Which key does what, for `tally doctor`; and the last wish to jump, by its number, and from where.
---@type string|nil, string|nil
M.keys, M.wish = nil, nil

--- Each `update-status` comes behind new titles. A title handler that was not called so long after the first look, in
--- seconds, is behind another's; the first status may have been due before the configuration was loaded.
local CALLED_S = 2
--- Words without an event after which the events are kept from us.
local MANY_UNTOLD = 2
--- Ends when the other end of the FIFO is opened, and costs nothing until then; fails at any other file.
local WAIT = '[ -p "$1" ] && : <"$1"'
--- The event that is emitted then.
local NEWS = 'tallylight.news'
--- The most looks at new values in a second. Faster ones are read, and shown by a look a second later.
local MAX_NEWS = 20
--- Seconds between two looks where there is no news; a little less than WezTerm's own interval.
local LEAST_S = 0.9
--- On a mux server: milliseconds between two looks without news, and seconds until lights are sent again, for a GUI
--- that attached since.
local SERVE_MS, AGAIN_S = 500, 5
--- The timer's seconds while nothing is busy: only for a sidecar that was ended from outside.
local IDLE_S = 15

--- The problems, in words; `tally doctor` has the same names.
local PROBLEMS = {
  titles = 'another format-tab-title handler came first; load tallylight before it, at the top of wezterm.lua',
  formatter = 'a format-tab-title handler fails, so the titles are drawn without it',
  keys = 'config.keys was set after apply_to_config, so its keys are gone; set it before',
  handlers = 'a handler registered before apply_to_config fails or returns false, so ours are not called; see above',
}

local life = ''
local last_tick = 0
local last_feed, fed_pid
local feed_number = 0
local first_tick
local has_status = false
local news_at, news = 0, 0
---@type table<string, boolean> # by the names of PROBLEMS
local problems = {}
---@type string|nil # the time of the lights, as last reported
local told_as_of
---@type table<string, string> # what was drawn last, by tab
local drawn = {}
---@type table<integer, { word: string, at: number }> # a mux server's last report, by pane
local told = {}

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

--- The panes in front of a person: those of the active tab of each window that has the focus. Where one is zoomed the
--- others are hidden, whatever the tab says of them.
---@return integer[]
local function in_front()
  local ids = {}
  for _, window in ipairs(wezterm.gui.gui_windows()) do
    pcall(function()
      if window:is_focused() then
        local found = window:active_tab():panes_with_info()
        local is_zoomed = false
        for _, info in ipairs(found) do
          is_zoomed = is_zoomed or info.is_zoomed
        end
        for _, info in ipairs(found) do
          if not is_zoomed or info.is_zoomed then
            ids[#ids + 1] = info.pane:pane_id()
          end
        end
      end
    end)
  end
  return ids
end

--- Set a user variable of a pane, as a program there would; nothing is written to its terminal. WezTerm then redraws
--- its titles, and a mux server notifies its GUIs. Panes of other domains ignore it.
---@param pane table
---@param name string
---@param value string
---@return boolean
local function set_var(pane, name, value)
  return (pcall(pane.inject_output, pane, '\27]1337;SetUserVar=' .. name .. '=' .. carrier.base64(value) .. '\7'))
end

local is_odd = false

--- Return the drawn half of the pulse, with a mark of what was redrawn.
---@return string
local function left_status()
  return (titles.is_bright and '\27[0m' or '') .. (is_odd and '\27[m' or '')
end

--- Redraw the titles where one changed. A variable set on a pane does so for its window; in a window without a pane
--- that takes one, an empty status does.
---@param by_tab table<string, { panes: table[], window: integer }>
local function redraw(by_tab)
  local changed, locals = {}, {}
  for id, tab in pairs(by_tab) do
    local state = titles.scene and titles.scene.tabs[id]
    local word = state and table.concat({ state.mark, state.name, state.what, tostring(state.collides) }, '\0') or ''
    if (drawn[id] or '') ~= word then
      drawn[id] = word
      changed[tab.window] = state and state.status or ''
    end
    for _, pane in ipairs(tab.panes) do
      locals[tab.window] = locals[tab.window] or (pane:get_domain_name() == 'local' and pane) or nil
    end
  end
  for id in pairs(drawn) do
    drawn[id] = by_tab[id] and drawn[id]
  end
  for window, status in pairs(changed) do
    if not (locals[window] and set_var(locals[window], 'tally_status', status)) then
      is_odd = not is_odd
      for _, gui in ipairs(wezterm.gui.gui_windows()) do
        if gui:window_id() == window then
          gui:set_left_status(left_status())
        end
      end
    end
  end
end

--- Say what is wrong, once, and tell the sidecar.
---@param name string # of PROBLEMS
---@param more string|nil
local function note(name, more)
  if not problems[name] then
    problems[name] = true
    wezterm.log_warn('tallylight: ' .. PROBLEMS[name] .. (more and ': ' .. more or ''))
  end
end

--- Say, once, that the lights are old.
---@param window table
local function tell_age(window)
  local as_of = sidecar.as_of()
  if as_of and as_of ~= told_as_of then
    local message = 'The lights are as of ' .. as_of .. ': the runtime directory is full or read-only. Make room there.'
    wezterm.log_warn('tallylight: ' .. message)
    window:toast_notification('tallylight', message, nil, toasts.TIMEOUT_MS)
  end
  told_as_of = as_of
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

--- When to look next, whatever happens until then; and what the loop that does is at.
local due = math.huge
---@type 'sleeping'|'looking'|nil
local loop

--- Whether our handler has heard the last event that we emitted. After a reload it is emitted to the new Lua state,
--- which may know nothing of us.
local is_last = true

--- Emit the event of the sidecar's news, which has the windows looked at.
local function emit_news()
  local window = wezterm.gui.gui_windows()[1]
  if window then
    is_last = false
    window:perform_action(wezterm.action.EmitEvent(NEWS), window:active_pane())
  end
end

--- Look at the windows whenever that is due, for as long as this Lua state is the last one and no other loop has begun.
local function keep_looking()
  local own = tostring(clock.now()) .. tostring({})
  wezterm.GLOBAL.tallylight_looking = own
  while due < math.huge do
    loop = 'sleeping'
    wezterm.sleep_ms(math.ceil(1000 * math.max(0.001, due - clock.now())))
    if wezterm.GLOBAL.tallylight_looking ~= own then
      return
    end
    due, loop = math.huge, is_last and 'looking' or nil
    if not is_last then
      -- Should the event only be late, the look that it leads to begins another loop.
      return
    end
    guarded('timer', emit_news)
    M.come_back()
  end
  loop = nil
end

--- Look after so many seconds at the latest. A loop that sleeps for longer is left, and another one begins.
---@param seconds number
local function look_after(seconds)
  local at = clock.now() + seconds
  if at < due - 0.01 then
    due = at
    if loop ~= 'looking' then
      loop = 'sleeping'
      wezterm.time.call_after(0, keep_looking)
    end
  end
end

---@type string|nil # the FIFO that this Lua state has waited at
local awaited

--- Call *heard* whenever the sidecar has news, for as long as it is the last one. A reload starts no second shell.
--- Waiting in one function leaves nothing behind. Without a shell or its FIFO the timer has to do.
---@param heard fun(): boolean # false: another Lua state has to wait from now on
local function await(heard)
  local fifo = sidecar.news()
  if not fifo or awaited == fifo or wezterm.GLOBAL.tallylight_awaited == fifo then
    return
  end
  awaited = fifo
  wezterm.time.call_after(0, function()
    wezterm.GLOBAL.tallylight_awaited = fifo
    while wezterm.GLOBAL.tallylight_awaited == fifo do
      local is_there, is_good = pcall(wezterm.run_child_process, { 'sh', '-c', WAIT, 'sh', fifo })
      if not (is_there and is_good and heard()) and wezterm.GLOBAL.tallylight_awaited == fifo then
        -- The next Lua state tries again.
        wezterm.GLOBAL.tallylight_awaited = ''
      end
    end
  end)
end

local is_busy = false

--- Come back in a while: WezTerm may be silent until then. An agent that is idle has no news.
function M.come_back()
  if M.options.tick_seconds > 0 and (is_busy or M.options.tally) then
    look_after(is_busy and M.options.tick_seconds or math.max(IDLE_S, M.options.tick_seconds))
  end
end

--- Whether a light pulses now: only for a while after it changed.
---@param state tallylight.State
---@param now number
local function pulses(state, now)
  return state.status == 'waiting' and math.abs(now - state.since) < words.PULSE_LASTS_S
end

local is_pulsing = false

--- Two strings that draw nothing: WezTerm redraws the tab bar when this one changes, and comes back in any case.
---@param now number
local function pulse(now)
  local was_pulsing = is_pulsing
  is_pulsing = false
  for _, state in pairs(titles.scene and titles.scene.tabs or {}) do
    state.pulses = pulses(state, now)
    is_pulsing = is_pulsing or state.pulses
  end
  titles.is_bright = is_pulsing and math.floor(now) % 2 == 1
  for _, window in ipairs((is_pulsing or was_pulsing) and wezterm.gui.gui_windows() or {}) do
    pcall(window.set_left_status, window, left_status())
  end
end

--- Whether a pane shows a progress bar; nil where WezTerm cannot tell.
---@param pane table
---@return boolean|nil
local function has_progress(pane)
  if not pane.get_progress then
    return nil
  end
  local is_good, progress = pcall(pane.get_progress, pane)
  return is_good and progress ~= nil and progress ~= 'None'
end

--- Write the feed for the sidecar, if there is news.
---@param known tallylight.Sidecar
---@param seen table<integer, tallylight.Seen>
---@param front integer[]
---@param now number
local function tell_sidecar(known, seen, front, now)
  local names, grounds = {}, {}
  for name in pairs(problems) do
    names[#names + 1] = name
  end
  for ground in pairs(titles.grounds) do
    grounds[#grounds + 1] = ground
  end
  table.sort(grounds)
  local look = titles.look
  local data = feed.encode({
    life = life,
    seen = seen,
    front = front,
    workspace = wezterm.mux.get_active_workspace(),
    problems = names,
    keys = M.keys,
    wish = M.wish,
    bar = {
      touching = look.touching,
      tab = look.tab,
      active = look.active,
      grounds = grounds[1] and grounds,
      colours = M.options.colours,
      names = M.options.names,
    },
  })
  -- Another sidecar has heard nothing yet.
  if known.pid ~= fed_pid then
    fed_pid, last_feed = known.pid, nil
  end
  if data and data ~= last_feed then
    local number = math.max(feed_number + 1, math.floor(now * 1000))
    if feed.write(known.feed, data, number) then
      last_feed, feed_number = data, number
    end
  end
end

---@class tallylight.Look.All
---@field known tallylight.Sidecar|nil
---@field seen table<integer, tallylight.Seen>
---@field by_id table<integer, table> # the panes
---@field by_tab table<string, { panes: table[], window: integer }>

--- Take in what every pane shows and says, and what the sidecar has found out.
---@param now number
---@return tallylight.Look.All
local function look(now)
  if life == '' then
    life = tostring(now) .. tostring(M):gsub('^table: ', '-')
  end
  local known = sidecar.ensure(M.options.tally, now)
  sidecar.refresh()
  local all = { known = known, seen = {}, by_id = {}, by_tab = {} }
  local workspace = wezterm.gui and wezterm.mux.get_active_workspace()
  is_busy = false
  M.each_pane(function(pane, tab, mux_window)
    local id, tab_id, window_id = pane:pane_id(), tab:tab_id(), mux_window:window_id()
    local user_vars = pane:get_user_vars()
    panes.hear(id, user_vars.tally, now, false, mux_window:get_workspace() == workspace)
    all.seen[id] = {
      title = pane:get_title(),
      tab = tab_id,
      window = window_id,
      is_local = pane:get_domain_name() == 'local',
      progress = has_progress(pane),
      -- On a server it is our own word.
      mux = wezterm.gui and user_vars.tally_mux,
    }
    all.by_id[id] = pane
    local key = tostring(tab_id)
    local members = all.by_tab[key] or { panes = {}, window = window_id }
    members.panes[#members.panes + 1], all.by_tab[key] = pane, members
    local state = not titles.scene and panes.state(id, user_vars)
    is_busy = is_busy or (state and state.status ~= 'idle') or false
  end)
  panes.tick(now, all.by_id)
  for _, state in pairs(titles.scene and titles.scene.tabs or {}) do
    is_busy = is_busy or state.status ~= 'idle'
  end
  return all
end

--- One look at everything.
---@param window table # a GUI window
---@param is_news boolean # whether there is urgent news
function M.tick(window, is_news)
  local now = clock.now()
  if not is_news and now - last_tick < LEAST_S and now >= last_tick then
    if is_pulsing then
      -- Without a status set, this would have been the last round.
      window:set_left_status(left_status())
    end
    return
  end
  last_tick = now
  -- This waits: what is looked at after it is as it is now.
  local front = in_front()
  local all = look(now)
  tell_age(window)
  redraw(all.by_tab)
  local is_missed = not titles.is_called and M.has_titles and M.has_titles()
  if not first_tick then
    first_tick = now
    if is_missed and M.options.tick_seconds > 0 then
      look_after(CALLED_S)
    end
    if M.are_keys_lost and M.are_keys_lost() then
      note('keys')
    end
  elseif is_missed and has_status and now - first_tick >= CALLED_S and not problems.titles then
    note('titles')
    window:toast_notification('tallylight', 'No tab shows a light: ' .. PROBLEMS.titles, nil, toasts.TIMEOUT_MS)
  end
  if titles.failure then
    note('formatter', titles.failure)
  end
  if panes.untold >= MANY_UNTOLD then
    note('handlers')
  end
  if all.known then
    await(function()
      guarded('news', emit_news)
      return true
    end)
    tell_sidecar(all.known, all.seen, front, now)
    toasts.show(window, sidecar.file('toasts'), M.options.toasts)
  end
  if M.options.pulse then
    pulse(now)
  end
  M.come_back()
end

--- Look at new values now, or later if looks come too often.
---@param window table
---@param now number
local function tell(window, now)
  if math.floor(now) ~= news_at then
    news_at, news = math.floor(now), 0
  end
  news = news + 1
  if news <= MAX_NEWS then
    M.tick(window, true)
  else
    look_after(1)
  end
end

--- On a mux server: hand on what is new of each pane, and what is lit again and again.
local function serve_once()
  local now = clock.now()
  local all = look(now)
  for id, pane in pairs(all.by_id) do
    local word = titles.scene and titles.scene.words[tostring(id)]
    word = type(word) == 'string' and word or ''
    local before = told[id] or { word = '', at = 0 }
    if word ~= before.word or (word ~= '' and now - before.at >= AGAIN_S) then
      if set_var(pane, 'tally_mux', word) then
        told[id] = { word = word, at = now }
      end
    end
  end
  for id in pairs(told) do
    told[id] = all.by_id[id] and told[id]
  end
  if all.known then
    tell_sidecar(all.known, all.seen, {}, now)
  end
end

--- Look for as long as this Lua state is the server's last one: at news of the sidecar, and all the time, because
--- nothing tells us what the panes say. Waiting in one function leaves nothing behind.
local function serve()
  local own = tostring(clock.now()) .. tostring(M)
  wezterm.GLOBAL.tallylight_serving = own
  local function serve_own()
    local is_own = wezterm.GLOBAL.tallylight_serving == own
    if is_own then
      guarded('mux server', serve_once)
    end
    return is_own
  end
  while serve_own() do
    await(serve_own)
    wezterm.sleep_ms(SERVE_MS)
  end
end

--- Where there is no GUI: serve the GUIs, if this is a mux server. `wezterm cli` reads the configuration, too.
function M.register_server()
  local function begin()
    wezterm.time.call_after(0, serve)
  end
  wezterm.on('mux-startup', begin)
  if wezterm.GLOBAL.tallylight_serving then
    begin()
  end
end

function M.register()
  wezterm.on('user-var-changed', function(window, pane, name, value)
    if name == 'tally' then
      guarded('user-var-changed', function()
        local now = clock.now()
        if panes.hear(pane:pane_id(), value, now, true) then
          tell(window, now)
        else
          M.tick(window, false)
        end
      end)
    elseif name == 'tally_mux' then
      guarded('user-var-changed', function()
        tell(window, clock.now())
      end)
    end
  end)
  wezterm.on(NEWS, function(window)
    is_last = true
    guarded(NEWS, function()
      local goal = sidecar.goal()
      if goal then
        M.show(goal, window)
      end
      tell(window, clock.now())
    end)
  end)
  for _, event in ipairs({ 'update-status', 'window-focus-changed', 'window-config-reloaded' }) do
    wezterm.on(event, function(window)
      guarded(event, function()
        has_status = has_status or event == 'update-status'
        M.tick(window, event ~= 'update-status')
      end)
    end)
  end
end

return M
