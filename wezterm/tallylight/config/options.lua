--- The options of `apply_to_config`: their defaults, and a merge that knows them all.
---
--- Pure. A wrong option costs itself: it keeps its default and is named in the list of problems.

local M = {}

---@class tallylight.Key
---@field key string
---@field mods string|nil # none: pressed after the key called `prefix`

---@class tallylight.Options
---@field title 'auto'|'own'|'manual'|false # who draws tab titles: see ui/titles.lua
---@field style 'filled'|'stripe'
---@field names boolean # whether a tab is called by its project, and says what it waits for
---@field pulse boolean # whether a light pulses when it begins to wait; it uses the left status to redraw
---@field colours table<tallylight.Status, string> # `#RRGGBB`
---@field toasts string[]|boolean # whether toasts are shown, or for which statuses; the settings decide when
---@field keys table<string, tallylight.Key|false>|false
---@field tally string|false # the program; false to do without
---@field tick_seconds number # how often to look for news where WezTerm itself is idle; 0 for never

---@type tallylight.Options
M.DEFAULTS = {
  title = 'auto',
  style = 'filled',
  names = true,
  pulse = false,
  colours = {},
  toasts = true,
  keys = {
    jump = { key = 'y', mods = 'CTRL|SHIFT' },
    list = { key = 'i', mods = 'CTRL|SHIFT' },
    prefix = { key = 'a', mods = 'CTRL|SHIFT' },
    panel = { key = 'p' },
    fork = { key = 'f' },
    resume = { key = 'r' },
    snooze = { key = 's' },
  },
  tally = 'tally',
  tick_seconds = 5,
}

local CHOICES = {
  title = { auto = true, own = true, manual = true, [false] = true },
  style = { filled = true, stripe = true },
}

---@type table<string, fun(value: any): boolean>
local CHECKS = {
  colours = function(value)
    for _, colour in pairs(value) do
      if type(colour) ~= 'string' or not colour:find('^#%x%x%x%x%x%x$') then
        return false
      end
    end
    return true
  end,
  keys = function(value)
    for name, key in pairs(value) do
      local is_key = type(key) == 'table' and type(key.key) == 'string'
      is_key = is_key and (type(key.mods) == 'string' or (key.mods == nil and name ~= 'prefix'))
      if not M.DEFAULTS.keys[name] or not (key == false or is_key) then
        return false
      end
    end
    return true
  end,
  tick_seconds = function(value)
    return value == 0 or value >= 1
  end,
}

--- Options of earlier versions, and what became of them.
local RETIRED = { mark = 'each light has its mark', palette = 'the command palette lists the keys by itself' }

local FALSE_TOO = { toasts = true, keys = true, tally = true, title = true }

--- The defaults with *given* on top. Maps are merged, lists are replaced.
---@param given table|nil
---@return tallylight.Options
---@return string[] problems
function M.merge(given)
  local merged, problems = {}, {}
  for name, value in pairs(M.DEFAULTS) do
    merged[name] = value
  end
  for name, value in pairs(type(given) == 'table' and given or {}) do
    local default = M.DEFAULTS[name]
    local is_off = value == false and FALSE_TOO[name]
    if RETIRED[name] then
      problems[#problems + 1] = 'delete the option ' .. name .. ': ' .. RETIRED[name] .. ' now'
    elseif default == nil then
      problems[#problems + 1] = 'unknown option ' .. tostring(name)
    elseif
      (CHOICES[name] and not CHOICES[name][value])
      or (not is_off and type(value) ~= type(default) and not (name == 'toasts' and type(value) == 'table'))
      or (not is_off and CHECKS[name] and not CHECKS[name](value))
    then
      problems[#problems + 1] = 'the option ' .. name .. ' cannot be ' .. tostring(value)
    elseif type(value) == 'table' and name ~= 'toasts' then
      local map = {}
      for key, each in pairs(default) do
        map[key] = each
      end
      for key, each in pairs(value) do
        map[key] = each
      end
      merged[name] = map
    else
      merged[name] = value
    end
  end
  return merged, problems
end

return M
