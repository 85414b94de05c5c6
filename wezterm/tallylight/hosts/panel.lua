--- The panel: `tally panel` in a narrow split at the left edge of a tab, which stays until the same key closes it.
---
--- A pane is a panel because we made it: its id is remembered, over a reload of the configuration too. A program's own
--- report does not count here, so none can have another pane closed.

local wezterm = require('wezterm')
local forks = require('tallylight.hosts.fork')
local sidecar = require('tallylight.hosts.sidecar')
local watch = require('tallylight.hosts.events')

local M = {}

--- Columns, as `[panel] width` of the settings has them: what is asked for if they cannot be read, and the limits.
M.WIDTH, M.LEAST, M.MOST = 32, 24, 40

---@type table<integer, boolean> # the tabs in which one is being opened or closed
local busy = {}

--- The ids of all panels, as strings. WezTerm gives no id twice.
---@return table<string, boolean>
local function remembered()
  local found = {}
  for id in tostring(wezterm.GLOBAL.tallylight_panels or ''):gmatch('%d+') do
    found[id] = true
  end
  return found
end

--- Remember one more, and forget those that have gone.
---@param made integer
local function remember(made)
  local before, kept = remembered(), { tostring(made) }
  watch.each_pane(function(pane)
    local id = tostring(pane:pane_id())
    if before[id] then
      kept[#kept + 1] = id
    end
  end)
  wezterm.GLOBAL.tallylight_panels = table.concat(kept, ' ')
end

--- The panels of a tab.
---@param tab table # MuxTab
---@return string[]
local function panels_of(tab)
  local all, found = remembered(), {}
  for _, pane in ipairs(tab:panes()) do
    local id = tostring(pane:pane_id())
    if all[id] then
      found[#found + 1] = id
    end
  end
  return found
end

--- Close the panels of a tab, by WezTerm's own program. It has to ask this very WezTerm: in another one the same number
--- is another pane.
---@param window table
---@param tab table # MuxTab
---@param ids string[]
local function close(window, tab, ids)
  local socket = os.getenv('WEZTERM_UNIX_SOCKET') or ''
  if not socket:find('/gui%-sock%-' .. wezterm.procinfo.pid() .. '$') then
    forks.tell(window, 'the panel cannot be closed from here: press q in it')
    return
  end
  local program = wezterm.executable_dir .. '/wezterm'
  for _, id in ipairs(ids) do
    local is_good, _, problem =
      wezterm.run_child_process({ program, 'cli', '--no-auto-start', 'kill-pane', '--pane-id', id })
    -- One that a person has closed meanwhile is no fault.
    if not is_good and #panels_of(tab) > 0 then
      error('wezterm cli kill-pane: ' .. tostring(problem):sub(1, 300), 0)
    end
  end
end

--- The width of a panel in the settings, in columns. Other mistakes in their file do not matter.
---@param program string
---@return integer
local function width(program)
  local _, out = wezterm.run_child_process({ program, 'config', 'show', 'panel.width' })
  local columns = tonumber(('\n' .. tostring(out)):match('\nwidth%s*=%s*(%d+)')) or M.WIDTH
  return math.floor(math.max(M.LEAST, math.min(M.MOST, columns)))
end

--- The pane at the left edge of a tab, the tallest of several. WezTerm draws one that is split off the whole of a tab
--- only in part where the tab has splits.
---@param tab table # MuxTab
---@return table # as of `panes_with_info`
local function leftmost(tab)
  local found
  for _, info in ipairs(tab:panes_with_info()) do
    if info.left == 0 and (not found or info.height > found.height) then
      found = info
    end
  end
  return found
end

---@param window table
---@param tab table # MuxTab
---@param program string
local function open(window, tab, program)
  -- This takes a moment, and only then what is in front counts.
  local columns = width(program)
  local before = tab:active_pane()
  tab:set_zoomed(false)
  local beside = leftmost(tab)
  local made = beside.pane:split({
    args = { program, 'panel' },
    cwd = wezterm.home_dir,
    direction = 'Left',
    domain = { DomainName = 'local' },
    size = math.max(1, math.min(columns, beside.width // 2)),
  })
  remember(made:pane_id())
  -- WezTerm gives a new pane the keyboard. The last pane of its tab gets it back, and no other tab comes to the front.
  local front = window:active_tab()
  pcall(before.activate, before)
  if front:tab_id() ~= tab:tab_id() then
    front:activate()
  end
end

---@param window table
---@param pane table
---@param tab table # MuxTab
local function toggle(window, pane, tab)
  local found = panels_of(tab)
  if #found > 0 then
    close(window, tab, found)
    return
  end
  local program = forks.options.tally and sidecar.program(forks.options.tally)
  if not program then
    forks.tell(window, 'the panel needs the program tally and its sidecar')
  elseif pane:get_domain_name() ~= 'local' then
    -- The server of such a tab does not know of a pane that only we have.
    forks.tell(window, "the panel opens in tabs of WezTerm's own domain; in this one, run tally panel in a split")
  else
    open(window, tab, program)
  end
end

--- Open a panel in the tab of a pane, or close the one there is. A second press meanwhile does nothing.
---@param window table
---@param pane table
function M.panel(window, pane)
  local tab = pane:tab()
  local id = tab and tab:tab_id()
  if not id or busy[id] then
    return
  end
  busy[id] = true
  local is_good, problem = pcall(toggle, window, pane, tab)
  busy[id] = nil
  if not is_good then
    error(problem, 0)
  end
end

return M
