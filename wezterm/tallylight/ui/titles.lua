--- Tab titles: the light in front of a title, in the fancy and in the retro tab bar.
---
--- Everything here runs in `format-tab-title`, which is synchronous and called twice a tab at each redraw: no file, no
--- process, no clock, one reading of `tab.panes` and one of each pane's variables. WezTerm runs only the handler that
--- was registered first, so what is not ours is wrapped, never replaced.
---
--- In the fancy tab bar the colours of a tab's first cell are those of the whole tab. So the style `colour` comes
--- before everything else, and the others have a blank before them there, which keeps the title's colours its own.

local wezterm = require('wezterm')
local panes = require('tallylight.pane.panes')
local words = require('tallylight.model.status')

local M = {}

---@type tallylight.Options
M.options = nil
--- What of the configuration WezTerm's own titles depend on.
M.look = { index = true, zero_based = false, fancy = true }
--- The lower half of a pulse is drawn.
M.is_dim = false
--- Whether WezTerm has called our handler: if not, another one came first.
M.is_called = false

---@param tab table # TabInformation
---@return tallylight.State|nil # of its most urgent pane; nil where there is nothing to say
function M.tab_state(tab)
  local best
  for _, pane in ipairs(tab.panes) do
    local state = panes.state(pane.pane_id, pane.user_vars)
    if state and panes.is_before(state, best) then
      best = state
    end
  end
  return best
end

---@param colour string
---@return string
local function dimmed(colour)
  local red, green, blue = colour:match('^#(%x%x)(%x%x)(%x%x)$')
  local function part(digits)
    return math.floor(tonumber(digits, 16) * words.PULSE_FLOOR + 0.5)
  end
  return string.format('#%02X%02X%02X', part(red), part(green), part(blue))
end

---@param state tallylight.State
---@return string
local function colour_of(state)
  local colour = M.options.colours[state.status] or words.COLOURS[state.status]
  -- A limit waits for nobody.
  return state.status == 'waiting' and state.kind ~= 'limit' and M.is_dim and dimmed(colour) or colour
end

--- Black or white, whichever stands out more (relative luminance of WCAG 2).
---@param colour string
---@return string
local function readable_on(colour)
  local red, green, blue = colour:match('^#(%x%x)(%x%x)(%x%x)$')
  local function linear(digits)
    local share = tonumber(digits, 16) / 255
    return share <= 0.04045 and share / 12.92 or ((share + 0.055) / 1.055) ^ 2.4
  end
  local light = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
  return light > 0.179 and '#000000' or '#FFFFFF'
end

--- What goes before a title, and its cells.
---@param state tallylight.State
---@return table[] items, integer cells
local function light_items(state)
  local colour, mark = colour_of(state), words.mark(state.status, state.kind)
  local style = M.options.style
  if style == 'colour' then
    local items = { { Background = { Color = colour } }, { Foreground = { Color = readable_on(colour) } } }
    items[#items + 1] = { Text = M.options.mark and mark .. ' ' or ' ' }
    return items, M.options.mark and 2 or 1
  end
  local light, cells = mark, 2
  if style == 'stripe' then
    light = words.stripe(state.status) .. (M.options.mark and mark or '')
    cells = M.options.mark and 3 or 2
  end
  local items = { { Foreground = { Color = colour } }, { Text = light }, 'ResetAttributes', { Text = ' ' } }
  if M.look.fancy then
    table.insert(items, 1, { Text = ' ' })
    cells = cells + 1
  end
  return items, cells
end

--- *text*, a string or a list of format items, with the light of *tab* before it; as it is where there is none.
---@param tab table # TabInformation
---@param text string|table
---@param state tallylight.State|nil # if it is known already
---@return string|table
function M.decorate(tab, text, state)
  if M.options.title == false then
    return text
  end
  state = state or M.tab_state(tab)
  if not state then
    return text
  end
  local items = light_items(state)
  if type(text) == 'table' then
    for _, item in ipairs(text) do
      items[#items + 1] = item
    end
  else
    items[#items + 1] = { Text = tostring(text) }
  end
  return items
end

--- The title WezTerm itself would show, near enough.
---@param tab table # TabInformation
---@return string
function M.default_title(tab)
  local title = tab.tab_title
  if not title or title == '' then
    local pane = tab.active_pane
    title = pane and pane.title or ''
  end
  -- In one line and without control characters, as everything a program may have set.
  title = require('tallylight.wire.text').sanitise(title)
  if M.look.index then
    title = string.format('%d: %s', tab.tab_index + (M.look.zero_based and 0 or 1), title)
  end
  return M.look.fancy and title or title .. ' '
end

--- A handler of `format-tab-title` that puts the light before what *formatter* returns.
---
--- Where that returns nothing, or where there is no *formatter*, the title is WezTerm's own.
---@alias tallylight.Formatter fun(tab: table, tabs: table, panes: table, config: any, hover: boolean, width: integer)
---@param formatter tallylight.Formatter|nil
---@return tallylight.Formatter
function M.wrap(formatter)
  return function(tab, tabs, tab_panes, config, hover, max_width)
    local state = M.options.title ~= false and M.tab_state(tab) or nil
    local cells = state and select(2, light_items(state)) or 0
    local text
    if formatter then
      text = formatter(tab, tabs, tab_panes, config, hover, math.max(1, (max_width or 16) - cells))
    end
    if not state then
      return text
    end
    if text == nil then
      text = M.default_title(tab)
      if max_width then
        text = wezterm.truncate_right(text, math.max(1, max_width - cells))
      end
    end
    return M.decorate(tab, text, state)
  end
end

--- A component for tabline.wez: the mark of the tab's light and a space, or nothing.
---@param tab table # TabInformation
---@return string
function M.component(tab)
  local state = M.options.title ~= false and M.tab_state(tab) or nil
  return state and words.mark(state.status, state.kind) .. ' ' or ''
end

--- Take `format-tab-title`, if it is ours to take.
---
--- 'own': with titles like WezTerm's. 'auto': besides, a handler registered after this one gives the title instead of
--- never being called, which is what WezTerm would do with it.
function M.register()
  local inner
  local ours = M.wrap(function(...)
    if inner then
      return inner(...)
    end
    return nil
  end)
  wezterm.on('format-tab-title', function(...)
    M.is_called = true
    return ours(...)
  end)
  if M.options.title == 'auto' then
    local on = wezterm.on
    wezterm.on = function(name, handler)
      if name ~= 'format-tab-title' then
        return on(name, handler)
      end
      -- The first one counts, as everywhere.
      inner = inner or handler
    end
  end
end

return M
