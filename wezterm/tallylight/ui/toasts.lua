--- Toasts: once for each need, and only where nobody looks.

local wezterm = require('wezterm')

local M = {}

--- Needs that are remembered; the oldest are forgotten.
M.MAX_TOLD = 200
local TIMEOUT_MS = 10000

local WORDS = {
  waiting = 'needs you',
  error = 'failed',
  down = 'is gone',
  done = 'is done',
  background = 'has work in the background',
  working = 'works',
  idle = 'is ready',
}

--- The needs that were told already, over reloads too: pane by pane, the one told last.
---@return table<string, string>
local function told()
  local is_good, found = pcall(wezterm.json_parse, wezterm.GLOBAL.tallylight_told or '{}')
  local needs = {}
  for key, need in pairs(is_good and type(found) == 'table' and found or {}) do
    needs[key] = type(need) == 'string' and need or nil
  end
  return needs
end

---@param state tallylight.State
---@return string title, string message
function M.words(state)
  local who = state.agent ~= '' and state.agent or 'agent'
  local title = who .. ' ' .. WORDS[state.status]
  if state.project ~= '' then
    title = title .. ': ' .. state.project
  end
  return title, state.message ~= '' and state.message or (state.kind or state.status)
end

--- Toast what *seen* panes need, unless they are in front.
---@param window table # the window that is asked to
---@param states table<integer, tallylight.State>
---@param is_front table<integer, boolean>
---@param statuses string[]|false
---@param now number
function M.show(window, states, is_front, statuses, now)
  local wanted = {}
  for _, status in ipairs(statuses or {}) do
    wanted[status] = true
  end
  local known, kept, is_changed = told(), {}, false
  local count = 0
  for id, state in pairs(states) do
    local key = tostring(id)
    local need = state.status .. ' ' .. string.format('%.0f', state.since)
    if not wanted[state.status] then
      is_changed = is_changed or known[key] ~= nil
    elseif count < M.MAX_TOLD then
      count = count + 1
      kept[key] = known[key]
      -- The sidecar dates a status a little otherwise than we do: not a need of its own.
      local before = known[key] and tonumber(known[key]:match(' (%d+)$'))
      local is_same = before and known[key]:match('^%a+') == state.status and math.abs(before - state.since) <= 5
      local is_snoozed = (state.snoozed_until or 0) > now
      if not is_same and not is_snoozed then
        kept[key] = need
        is_changed = true
        if not is_front[id] then
          local title, message = M.words(state)
          window:toast_notification(title, message, nil, TIMEOUT_MS)
        end
      end
    end
  end
  if is_changed then
    wezterm.GLOBAL.tallylight_told = next(kept) and wezterm.json_encode(kept) or '{}'
  end
end

return M
