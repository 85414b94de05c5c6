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

--- The tab bar of a title handler lists only the zoomed pane of a tab; those that it hides count as well.
---@param tab table # TabInformation
---@param shown integer
---@return { id: integer, vars: table<string, string> }[]
local function hidden_panes(tab, shown)
  local found = {}
  pcall(function()
    for _, pane in ipairs(wezterm.mux.get_tab(tab.tab_id):panes()) do
      local id = pane:pane_id()
      if id ~= shown then
        found[#found + 1] = { id = id, vars = pane:get_user_vars() }
      end
    end
  end)
  return found
end

---@param tab table # TabInformation
---@return tallylight.State|nil # what is shown for its panes, hidden ones among them; nil where there is nothing to say
function M.tab_state(tab)
  local best, is_done
  local function weigh(id, vars)
    local state = panes.state(id, vars)
    is_done = is_done or (state ~= nil and state.status == 'done')
    if state and panes.is_before(state, best, words.PRECEDENCE) then
      best = state
    end
  end
  local shown = tab.panes
  for _, pane in ipairs(shown) do
    weigh(pane.pane_id, pane.user_vars)
  end
  if #shown == 1 and shown[1].is_zoomed then
    for _, pane in ipairs(hidden_panes(tab, shown[1].pane_id)) do
      weigh(pane.id, pane.vars)
    end
  end
  if is_done and (best.status == 'working' or best.status == 'background') then
    -- A pane is done beside the work that is shown: a second mark.
    return setmetatable({ is_done_beside = true }, { __index = best })
  end
  return best
end

---@param colour string
---@param share number
---@return string
local function dimmed(colour, share)
  local red, green, blue = colour:match('^#(%x%x)(%x%x)(%x%x)$')
  local function part(digits)
    return math.floor(tonumber(digits, 16) * share + 0.5)
  end
  return string.format('#%02X%02X%02X', part(red), part(green), part(blue))
end

---@param state tallylight.State
---@return string
local function colour_of(state)
  local colour = M.options.colours[state.status] or words.COLOURS[state.status]
  -- A limit waits for nobody.
  local pulses = state.status == 'waiting' and state.kind ~= 'limit'
  return pulses and M.is_dim and dimmed(colour, words.PULSE_FLOOR) or colour
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

--- Of a whole tab's colour, for one that is not the active one.
local INACTIVE = 0.55

--- What goes before a title, and its cells.
---@param state tallylight.State
---@param is_active boolean
---@param leading table[] # what the title sets before its first text: the colours of its tab
---@return table[] items, integer cells
local function light_items(state, is_active, leading)
  local colour, mark = colour_of(state), words.mark(state.status, state.kind)
  local style = M.options.style
  local more = state.is_done_beside and (style == 'icon' or M.options.mark) and 1 or 0
  if more == 1 then
    mark = mark .. words.MARKS.done
  end
  if style == 'colour' then
    colour = is_active and colour or dimmed(colour, INACTIVE)
    local items = { { Background = { Color = colour } }, { Foreground = { Color = readable_on(colour) } } }
    if is_active then
      items[#items + 1] = { Attribute = { Intensity = 'Bold' } }
    end
    items[#items + 1] = { Text = M.options.mark and mark .. ' ' or ' ' }
    return items, (M.options.mark and 2 or 1) + more
  end
  local light, cells = mark, 2
  if style == 'stripe' then
    light = words.stripe(state.status) .. (M.options.mark and mark or '')
    cells = M.options.mark and 3 or 2
  end
  local items = { table.unpack(leading) }
  if M.look.fancy then
    items[#items + 1] = { Text = ' ' }
    cells = cells + 1
  end
  items[#items + 1] = { Foreground = { Color = colour } }
  items[#items + 1] = { Text = light }
  items[#items + 1] = 'ResetAttributes'
  for _, item in ipairs(leading) do
    items[#items + 1] = item
  end
  items[#items + 1] = { Text = ' ' }
  return items, cells + more
end

--- What a title sets before its first text.
---@param text any
---@return table[]
local function leading_of(text)
  local leading = {}
  for _, item in ipairs(type(text) == 'table' and text or {}) do
    if type(item) ~= 'table' or item.Text then
      break
    end
    leading[#leading + 1] = item
  end
  return leading
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
  local leading = leading_of(text)
  local items = light_items(state, tab.is_active, leading)
  if type(text) == 'table' then
    for index = #leading + 1, #text do
      items[#items + 1] = text[index]
    end
  else
    items[#items + 1] = { Text = tostring(text) }
  end
  return items
end

--- A circle that fills, as WezTerm draws it: nerdfonts' `md_checkbox_blank_circle_outline`, `md_circle_slice_1` to `8`.
local CIRCLE, SLICES = '\u{f0130}', 0xf0a9e
local BOUNDS = { 5, 18, 31, 43, 56, 68, 81, 94 }

--- Whether panes have a progress bar here: on the stable release asking for it raises. nil: not tried yet.
---@type boolean|nil
local has_progress

--- The progress of a pane as WezTerm's own title shows it: items and cells, nothing where there is none.
---@param pane table|nil # PaneInformation
---@return table[] items, integer cells
local function progress_items(pane)
  if not pane or has_progress == false then
    return {}, 0
  end
  local is_good, progress = pcall(function()
    return pane.progress
  end)
  has_progress = is_good
  if not is_good or type(progress) ~= 'table' then
    return {}, 0
  end
  local percent = tonumber(progress.Percentage or progress.Error)
  if not percent then
    return {}, 0
  end
  local glyph = CIRCLE
  for index, bound in ipairs(BOUNDS) do
    if percent > bound then
      glyph = utf8.char(SLICES + index - 1)
    end
  end
  local colour = { Foreground = { AnsiColor = progress.Error and 'Red' or 'Green' } }
  -- The empty text keeps the colour from being that of the whole tab.
  return { { Text = '' }, colour, { Text = glyph .. ' ' }, { Foreground = 'Default' } }, 2
end

--- The title WezTerm itself would show, near enough: what stands before its words, and the words.
---@param tab table # TabInformation
---@return table[] items, integer cells, string
function M.default_title(tab)
  local title = tab.tab_title
  local pane = tab.active_pane
  if not title or title == '' then
    title = pane and pane.title or ''
  end
  -- In one line and without control characters, as everything a program may have set.
  title = require('tallylight.wire.text').sanitise(title)
  if M.look.index then
    title = string.format('%d: %s', tab.tab_index + (M.look.zero_based and 0 or 1), title)
  end
  local items, cells = progress_items(pane)
  return items, cells, M.look.fancy and title or title .. ' '
end

--- WezTerm's own title as items, in so many cells.
---@param tab table # TabInformation
---@param width integer|nil # nil in a fancy tab bar, which draws all of it
---@return table[]
local function own_title(tab, width)
  local items, cells, text = M.default_title(tab)
  if width then
    text = wezterm.truncate_right(text, math.max(1, width - cells))
  end
  items[#items + 1] = { Text = text }
  return items
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
    local cells = state and select(2, light_items(state, tab.is_active, {})) or 0
    local text
    if formatter then
      text = formatter(tab, tabs, tab_panes, config, hover, math.max(1, (max_width or 16) - cells))
    end
    if not state then
      return text
    end
    if text == nil then
      -- A fancy tab bar draws all of a title; what it offers is no width of its own.
      text = own_title(tab, not M.look.fancy and max_width and math.max(1, max_width - cells) or nil)
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

--- For a status bar: how many panes wait, have ended, work; `!2 ●1`. Nothing where there is none.
---@return string
function M.summary()
  local counts = {}
  for _, state in pairs(panes.shown) do
    counts[state.status] = (counts[state.status] or 0) + 1
  end
  local parts = {}
  for _, status in ipairs({ 'waiting', 'error', 'down', 'done', 'background', 'working' }) do
    if counts[status] then
      parts[#parts + 1] = words.mark(status) .. counts[status]
    end
  end
  return table.concat(parts, ' ')
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
