--- The values of every pane's `tally` variable: passed to the sidecar, or without one shown directly.
---
--- Plain tables in memory; nothing here touches a file, a process or a clock, so a title handler may call it.

local carrier = require('tallylight.wire.carrier')
local words = require('tallylight.model.status')

--- The state of a tab: `scene.py` makes it, or without a sidecar `state` here.
---@class tallylight.State
---@field status tallylight.Status
---@field kind tallylight.Kind|nil
---@field mark string
---@field stripe string
---@field name string # what the tab is called; empty for its own title
---@field ours boolean|nil # whether that is not the title of the program
---@field what string # what it waits for, or why it failed
---@field countdown boolean|nil # whether that is how long a limit yet lasts
---@field collides boolean|nil # whether another agent has changed the same lines
---@field agent string
---@field project string
---@field message string
---@field since number # seconds since the epoch; 0 if unknown
---@field pane_id integer|nil
---@field vars table<string, string>|nil # what its agent wants to be shown, by names of its own

---@class tallylight.Heard
---@field last string # the payload that was heard last
---@field at number
---@field count integer
---@field said { n: integer, value: string }[] # for the sidecar, the newest last
---@field awaited string|nil # a word that was read before its event came, which is no other word

local M = {}

--- Of one pane's payloads, kept for the sidecar.
M.MAX_SAID = 16
--- How long a status that says it is busy is believed without another word, in seconds.
M.FUSE_S = 300
--- How long an event may take to come, in seconds.
M.EVENT_S = 3

---@type table<integer, tallylight.Heard>
local heard = {}
--- Nothing was looked at yet: a variable may have had its value for long.
local is_first = true

---@param pane tallylight.Heard
---@param value string
local function has_said(pane, value)
  for _, word in ipairs(pane.said) do
    if word.value == value then
      return true
    end
  end
  return false
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
  if type(payload) ~= 'string' or #payload > carrier.LIMIT or not utf8.len(payload) then
    return false
  end
  local bare, is_beat = carrier.without_beat(payload ~= '' and payload or 'state=clear')
  if not (bare:find('state=', 1, true) or bare:find('resume=', 1, true)) then
    return false
  end
  local pane = heard[pane_id]
  if pane and is_new and pane.awaited then
    local is_awaited = pane.awaited == bare
    pane.awaited = nil
    if is_awaited then
      return false
    end
  end
  if pane and (pane.last == bare or (is_beat and has_said(pane, bare))) and (is_beat or not is_new) then
    return false
  end
  if not pane and bare == 'state=clear' then
    return false
  end
  pane = pane or { last = '', at = 0, count = 0, said = {} }
  heard[pane_id] = pane
  pane.last, pane.at, pane.count = bare, now, pane.count + 1
  pane.said[#pane.said + 1] = { n = pane.count, value = bare }
  if #pane.said > M.MAX_SAID then
    table.remove(pane.said, 1)
  end
  -- At the first look there are values that were set long before.
  pane.awaited = not is_new and has_events and not is_first and bare or nil
  return true
end

--- Return the pane's values for the sidecar.
---@param pane_id integer
---@return { n: integer, value: string }[]
function M.said(pane_id)
  return heard[pane_id] and heard[pane_id].said or {}
end

--- Values that were read, and have had no event for some seconds. One may have been set before its window existed; more
--- are a sign of a problem.
M.untold = 0

--- Let time pass, and forget the panes that are gone.
---@param now number
---@param living table<integer, boolean>
function M.tick(now, living)
  is_first = false
  M.now = now
  for id, pane in pairs(heard) do
    if not living[id] then
      heard[id] = nil
    elseif pane.awaited and now - pane.at > M.EVENT_S then
      pane.awaited = nil
      M.untold = M.untold + 1
    end
  end
end

--- When time last passed.
M.now = 0

--- Return the state of a pane from its variables alone; nil without one.
---@param pane_id integer
---@param user_vars table<string, string>
---@return tallylight.State|nil
function M.state(pane_id, user_vars)
  local status, kind = carrier.root(user_vars.tally)
  if not status then
    status, kind = carrier.server(user_vars.tally_mux)
  end
  local pane = heard[pane_id]
  if status == 'working' and pane and M.now - pane.at > M.FUSE_S then
    status = 'idle'
  end
  if not status or status == 'active' then
    return nil
  end
  return {
    status = status,
    kind = kind,
    mark = words.mark(status, kind),
    stripe = words.CONCLUDED[status] and words.HOLLOW_STRIPE or words.STRIPE,
    name = '',
    what = '',
    agent = '',
    project = '',
    message = '',
    since = pane and pane.at or 0,
    pane_id = pane_id,
  }
end

return M
