--- Toasts: once for each need, and only where nobody looks.

local wezterm = require('wezterm')

local M = {}

--- Needs that are remembered.
M.MAX_TOLD = 200
--- How long to wait for the words of a question, in seconds, while there is a sidecar that may read them.
M.WORDS_S = 1.5
--- The sidecar dates a status a little otherwise than we do, in seconds.
local SLACK_S = 5
--- How long a toast stands, in milliseconds.
M.TIMEOUT_MS = 10000

local WORDS = {
  waiting = 'needs you',
  error = 'failed',
  down = 'is gone',
  done = 'is done',
  limited = 'has used up its limit',
  quiet = 'is quiet',
  background = 'has work in the background',
  working = 'works',
  idle = 'is ready',
}
--- What is said of a question whose words nobody knows.
local KINDS = {
  permission = 'It asks for permission.',
  question = 'It has a question.',
  input = 'It waits for input.',
  auth = 'It asks to sign in.',
}

---@class tallylight.Need
---@field status string
---@field since number # 0 if that was not known
---@field by integer # the sidecar at that time, 0 for none: another one dates everything anew

---@param need any
---@return tallylight.Need|nil
local function read(need)
  if type(need) ~= 'string' then
    return nil
  end
  local status, since, by = need:match('^(%a+) (%d+) (%d+)$')
  if not status or #since > 15 or #by > 10 then
    return nil
  end
  return { status = status, since = tonumber(since), by = tonumber(by) }
end

--- The needs that were told already, over reloads too: pane by pane, the one told last. A pane of a mux server has the
--- name that it has there, also while the server is detached.
---@return table<string, string>
local function told()
  local is_good, found = pcall(wezterm.json_parse, wezterm.GLOBAL.tallylight_told or '{}')
  local needs = {}
  for key, need in pairs(is_good and type(found) == 'table' and found or {}) do
    needs[key] = read(need) and need or nil
  end
  return needs
end

--- Where and what first, then the question, or what the turn came to.
---@param state tallylight.State
---@return string title, string message
function M.words(state)
  local who = state.agent ~= '' and state.agent or 'agent'
  local needs = who .. ' ' .. WORDS[state.status]
  local name = state.name ~= '' and state.name or state.project
  local where = name ~= '' and name .. ': ' or ''
  if state.status == 'waiting' and state.request then
    return (where ~= '' and where or who .. ': ') .. state.request, needs .. ': ' .. state.message
  end
  local says = state.outcome or state.message
  return where .. needs, says ~= '' and says or KINDS[state.kind] or state.status
end

--- Whether what is shown is the need that was told already.
---@param state tallylight.State
---@param before tallylight.Need|nil
---@param by integer
---@return boolean
local function is_told(state, before, by)
  if not before or before.status ~= state.status then
    return false
  end
  if before.by ~= by or state.since == 0 or before.since == 0 then
    return true
  end
  -- What a mux server tells of is dated there.
  local is_older = state.since < before.since and not state.server_pane
  return is_older or math.abs(state.since - before.since) <= SLACK_S
end

--- Needs whose words are waited for: since when, by pane.
---@type table<integer, number>
local postponed = {}

--- Whether to wait a little for the words of a question. What an agent asks to do may be read after its dialog.
---@param id integer
---@param state tallylight.State
---@param by integer
---@param now number
local function is_early(id, state, by, now)
  local is_whole = state.message ~= '' and (state.request or state.kind ~= 'permission' or state.source == 'protocol')
  if state.status ~= 'waiting' or is_whole or by == 0 then
    return false
  end
  postponed[id] = postponed[id] or now
  return now - postponed[id] < M.WORDS_S and now >= postponed[id]
end

---@class tallylight.ToastContext
---@field window table # the window that is asked to
---@field is_front table<integer, boolean>
---@field statuses string[]|false
---@field by integer # the sidecar, 0 for none
---@field now number

--- Toast what the panes of *states* need, unless they are in front.
---@param states table<integer, tallylight.State>
---@param context tallylight.ToastContext
---@return boolean # whether there is one that waits for its words
function M.show(states, context)
  local wanted = {}
  for _, status in ipairs(context.statuses or {}) do
    wanted[status] = true
  end
  local known, kept, waiting = told(), {}, {}
  local before_text = wezterm.GLOBAL.tallylight_told
  local count, named = 0, {}
  for _, state in pairs(states) do
    local name = state.server_pane or ''
    named[name] = (named[name] or 0) + 1
  end
  for id, state in pairs(states) do
    -- A program can take the name of another pane: then it names neither.
    local key = named[state.server_pane] == 1 and state.server_pane or tostring(id)
    if wanted[state.status] and count < M.MAX_TOLD then
      count = count + 1
      local before = read(known[key])
      local need = string.format('%s %.0f %d', state.status, state.since, context.by)
      if is_told(state, before, context.by) then
        local is_better_dated = state.since > 0 and (before.since == 0 or before.by ~= context.by)
        kept[key] = is_better_dated and need or known[key]
      elseif (state.snoozed_until or 0) > context.now then
        kept[key] = known[key]
      elseif context.is_front[id] or (state.muted_until or 0) > context.now then
        kept[key] = need
      elseif is_early(id, state, context.by, context.now) then
        waiting[id] = postponed[id]
        kept[key] = known[key]
      else
        kept[key] = need
        local title, message = M.words(state)
        context.window:toast_notification(title, message, nil, M.TIMEOUT_MS)
      end
    end
  end
  for key, need in pairs(known) do
    if key:find('.', 1, true) and not named[key] and count < M.MAX_TOLD then
      count, kept[key] = count + 1, need
    end
  end
  postponed = waiting
  local text = next(kept) and wezterm.json_encode(kept) or '{}'
  if text ~= (before_text or '{}') then
    wezterm.GLOBAL.tallylight_told = text
  end
  return next(waiting) ~= nil
end

return M
