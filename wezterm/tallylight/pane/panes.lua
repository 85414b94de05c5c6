--- What is known of every pane: what its `tally` variable said, and what the sidecar's snapshot says.
---
--- Plain tables in memory; nothing here touches a file, a process or a clock, so a title handler may ask. Where both
--- speak, the sidecar is right, because it has heard the variable too and weighs it against everything else; but not
--- before it has: a word it has not answered yet is shown at once.

local carrier = require('tallylight.wire.carrier')
local memo = require('tallylight.model.memo')
local remote = require('tallylight.wire.remote')
local words = require('tallylight.model.status')

---@class tallylight.State
---@field status tallylight.Status
---@field kind tallylight.Kind|nil
---@field agent string
---@field project string
---@field name string # what the person called the conversation in the list
---@field message string
---@field request string|nil # what it waits for in few words, where that is known
---@field outcome string|nil # what the turn came to that is over, where that is known
---@field title string # what its session is called, by the agent
---@field source string
---@field since number # seconds since the epoch; 0 if unknown
---@field pane_id integer|nil
---@field vars table<string, string>|nil # what its agent wants to be shown, by names of its own
---@field snoozed_until number|nil
---@field muted_until number|nil
---@field limited_until number|nil
---@field collides boolean|nil # whether another agent has changed the same lines
---@field server_pane string|nil # of a pane of a mux server: what names it there
---@field turn string|nil # what names its finished turn, where the server tells of that

---@class tallylight.Heard
---@field last string|nil # the payload that was heard last
---@field records table<string, tallylight.Report>
---@field at table<string, number>
---@field count integer
---@field said { n: integer, value: string }[] # for the sidecar, the newest last
---@field is_fresh boolean # the sidecar has not answered yet
---@field fresh_at number
---@field told_at integer|nil # the feed that told the sidecar of it, by its number
---@field awaited string|nil # a word that was read before its event came, which is no other word

local M = {}

--- Of one pane's records, and of the payloads kept for the sidecar.
M.MAX_RECORDS = 64
M.MAX_SAID = 16
--- How long a state that says it is busy is believed without another word, in seconds.
M.FUSE_S = 300
--- How long the sidecar may take to answer, in seconds.
M.ANSWER_S = 3

---@type table<integer, tallylight.Heard>
local heard = {}
---@type table<string, tallylight.State>
local entries, former = {}, {}
--- Nothing was looked at yet: what a variable holds now may have stood there for long.
local is_first = true

---@type fun(payload: string): tallylight.Report|nil
local decode = memo.of(256, function(payload)
  return (carrier.decode((carrier.without_beat(payload))))
end)

---@type fun(value: any): tallylight.State|nil
local from_server = memo.of(256, function(value)
  return remote.state(value)
end)

---@param pane_id integer
---@return tallylight.Heard
local function of(pane_id)
  local pane = heard[pane_id]
  if not pane then
    pane = { records = {}, at = {}, count = 0, said = {}, is_fresh = false, fresh_at = 0 }
    heard[pane_id] = pane
  end
  return pane
end

--- Whether *id* is *parent* or below it.
local function is_within(id, parent)
  return parent == '' or id == parent or id:sub(1, #parent + 1) == parent .. '/'
end

---@param records table<string, any>
local function count_of(records)
  local count = 0
  for _ in pairs(records) do
    count = count + 1
  end
  return count
end

--- Whether what a variable holds was weighed by the sidecar already: before the first look, of which there is an entry.
---@param pane_id integer
---@return boolean
local function was_weighed(pane_id)
  return is_first and entries[tostring(pane_id)] ~= nil
end

--- Take note of a value of the variable. A repetition that only reminds is none, unless it is news to us.
---
--- WezTerm lets a value be read before it emits the event of it: that event is not a word of its own.
---@param pane_id integer
---@param payload any
---@param now number # seconds since the epoch
---@param is_new boolean # whether it was set just now, even if to the same value
---@param has_events boolean|nil # where it was not: whether its window is one that WezTerm emits events for
---@return boolean # whether there is something new
function M.hear(pane_id, payload, now, is_new, has_events)
  if type(payload) ~= 'string' then
    return false
  end
  local bare, is_beat = carrier.without_beat(payload)
  if payload == '' then
    bare = 'state=clear'
  end
  local report = decode(bare)
  if not report then
    return false
  end
  local pane = heard[pane_id]
  local is_known = pane ~= nil and (pane.last == bare or (is_beat and pane.records[report.id] == report))
  if pane and is_new and pane.awaited then
    local is_awaited = pane.awaited == bare
    pane.awaited = nil
    if is_awaited then
      return false
    end
  end
  if is_known and (is_beat or not is_new) then
    return false
  end
  if not pane and report.status == 'clear' then
    return false
  end
  pane = of(pane_id)
  pane.last = bare
  if report.status == 'clear' then
    for id in pairs(pane.records) do
      if is_within(id, report.id) then
        pane.records[id], pane.at[id] = nil, nil
      end
    end
  elseif pane.records[report.id] or count_of(pane.records) < M.MAX_RECORDS then
    local before = pane.records[report.id]
    if not before or before.status ~= report.status then
      pane.at[report.id] = (is_new or not is_first) and now or 0
    end
    pane.records[report.id] = report
  end
  pane.count = pane.count + 1
  pane.said[#pane.said + 1] = { n = pane.count, value = bare }
  if #pane.said > M.MAX_SAID then
    table.remove(pane.said, 1)
  end
  pane.is_fresh, pane.fresh_at, pane.told_at = not was_weighed(pane_id), now, nil
  -- At the first look there are values that were set long before.
  pane.awaited = not is_new and has_events and not is_first and bare or nil
  return true
end

--- What the pane has said for the sidecar to hear.
---@param pane_id integer
---@return { n: integer, value: string }[]
function M.said(pane_id)
  return heard[pane_id] and heard[pane_id].said or {}
end

--- A feed with all that was heard was written.
---@param number integer # the feed's
function M.told(number)
  for _, pane in pairs(heard) do
    pane.told_at = pane.told_at or number
  end
end

--- Words that were read and whose events have not come for some seconds. One may have been set before its window was
--- there; more are a sign.
M.untold = 0

--- Let time pass: an answer that does not come is not waited for, and who says no more is not busy for ever.
---@param now number
---@param answered integer # the last feed that the sidecar had read when it wrote its snapshot
---@return boolean # whether something changed that is drawn
function M.tick(now, answered)
  local is_changed = false
  is_first = false
  for id, pane in pairs(heard) do
    local is_answered = pane.told_at ~= nil and answered >= pane.told_at
    if pane.is_fresh and (is_answered or now - pane.fresh_at > M.ANSWER_S or now < pane.fresh_at) then
      pane.is_fresh = false
      is_changed = is_changed or entries[tostring(id)] ~= nil
    end
    if pane.awaited and now - pane.fresh_at > M.ANSWER_S then
      pane.awaited = nil
      M.untold = M.untold + 1
    end
    for record, report in pairs(pane.records) do
      if report.status == 'working' and now - pane.fresh_at > M.FUSE_S then
        pane.records[record] = { status = 'idle', id = record, source = 'protocol', agent = report.agent }
        is_changed = true
      end
    end
  end
  return is_changed
end

--- Take what the snapshot says, by pane id.
---@param found table<string, tallylight.State>
function M.set_entries(found)
  entries = found
end

--- Who wrote the snapshot is gone. What it said stands where its successor says nothing, or has not looked yet.
function M.end_entries()
  former, entries = entries, {}
end

--- The successor has had time to look.
function M.forget_former()
  former = {}
end

--- How long a finished turn has to be in front of a person to count as seen, in seconds, and how many are remembered.
M.DWELL_S, M.MAX_SEEN = 1, 200
--- The finished turns at mux servers that a person has seen: a server does not know what is in front of them.
---@type table<string, boolean>
M.seen = {}
---@type table<string, number> # since when one is in front
local looked = {}

--- Take note of what is in front of a person.
---@param states table<integer, tallylight.State>
---@param is_front table<integer, boolean>
---@param now number
---@return boolean # whether a finished turn was seen
---@return boolean # whether one is being looked at
function M.look_at(states, is_front, now)
  local before, has_seen = looked, false
  looked = {}
  for id, state in pairs(states) do
    local turn = is_front[id] and state.turn
    if turn and now - (before[turn] or now) >= M.DWELL_S then
      M.seen = count_of(M.seen) < M.MAX_SEEN and M.seen or {}
      M.seen[turn], has_seen = true, true
    elseif turn then
      looked[turn] = before[turn] or now
    end
  end
  return has_seen, next(looked) ~= nil
end

--- What every pane shows, as of the last look; for a status bar.
---@type table<integer, tallylight.State>
M.shown = {}

--- Forget the panes that are gone.
---@param living table<integer, boolean>
function M.keep(living)
  for id in pairs(heard) do
    if not living[id] then
      heard[id] = nil
    end
  end
end

---@param report tallylight.Report
---@param since number
---@return tallylight.State
local function state_of(report, since)
  return {
    status = report.status,
    kind = report.kind,
    agent = report.agent or '',
    project = report.project or '',
    message = report.message or '',
    title = report.title,
    source = report.source,
    since = since,
    vars = report.vars,
  }
end

--- Whether *a* is shown rather than *b*.
---@param a tallylight.State
---@param b tallylight.State|nil
---@param order table<tallylight.Status, integer>|nil # urgency, where none is given
---@return boolean
function M.is_before(a, b, order)
  if not b then
    return true
  end
  order = order or words.URGENCY
  local first, second = order[a.status], order[b.status]
  return first > second or (first == second and a.since > b.since)
end

--- What the variable alone says of a pane. *payload* is its value now: it may not have been heard yet.
---@param pane_id integer
---@param payload any
---@return tallylight.State|nil
local function own_state(pane_id, payload)
  local pane = heard[pane_id]
  local best
  local now_said = type(payload) == 'string' and decode(payload) or nil
  if pane then
    for id, report in pairs(pane.records) do
      local is_replaced = now_said and pane.last ~= carrier.without_beat(payload) and is_within(id, now_said.id)
      if not is_replaced then
        local state = state_of(report, pane.at[id] or 0)
        if M.is_before(state, best) then
          best = state
        end
      end
    end
    if pane.last == (type(payload) == 'string' and carrier.without_beat(payload) or nil) then
      return best
    end
  end
  if now_said and now_said.status ~= 'clear' then
    local state = state_of(now_said, 0)
    if M.is_before(state, best) then
      best = state
    end
  end
  return best
end

--- Whether a new sidecar has not looked at all of a pane yet: it says less than the last one did, by something else.
--- It reads a title before the agent's files.
---@param entry tallylight.State|nil
---@param before tallylight.State
---@return boolean
local function is_hasty(entry, before)
  return not entry
    or entry.status == 'active'
    or entry.source == 'heuristic'
    or (entry.source ~= before.source and words.URGENCY[entry.status] < words.URGENCY[before.status])
end

--- What is shown for a pane; nil where there is nothing to say.
---@param pane_id integer
---@param user_vars table<string, string>|nil
---@return tallylight.State|nil
function M.state(pane_id, user_vars)
  local payload = user_vars and user_vars.tally
  local remotely = user_vars and user_vars.tally_mux and from_server(user_vars.tally_mux)
  local entry, before = entries[tostring(pane_id)], former[tostring(pane_id)]
  if before and is_hasty(entry, before) then
    entry = before
  end
  local pane = heard[pane_id]
  local is_unheard = type(payload) == 'string'
    and payload ~= ''
    and not was_weighed(pane_id)
    and (pane == nil or pane.last ~= carrier.without_beat(payload))
  local shown, own = entry, own_state(pane_id, payload)
  local is_newer = own and (not entry or is_unheard or (pane and pane.is_fresh))
  if is_newer and (not entry or words.RANKS[own.source] >= (words.RANKS[entry.source] or 0)) then
    shown = own
  end
  -- Where an agent speaks for itself, what was seen of it from outside is not asked.
  if (not shown or shown.status == 'active') and not own then
    shown = remotely
  end
  if not shown or shown.status == 'active' or (shown.status == 'idle' and shown.source == 'shell') then
    return nil
  end
  local state = {}
  for key, value in pairs(shown) do
    state[key] = value
  end
  state.server_pane = remotely and remotely.server_pane
  if M.seen[state.turn] then
    state.status = 'idle'
  end
  state.pane_id, state.title, state.name = pane_id, own and own.title or '', entry and entry.name or ''
  state.collides = entry ~= nil and entry.collides or nil
  if entry and state.project == '' then
    -- Not every agent says where it works.
    state.project = entry.project
  end
  return state
end

return M
