--- Tab titles: the light of a tab and who it is, in the fancy and in the retro tab bar.
---
--- What needs a person fills its tab and says `name: what`; news fills its mark; work is a plain mark; idle has none.
--- Everything here runs in `format-tab-title`, which is synchronous and called twice a tab at each redraw: no file, no
--- process, no clock, one reading of `tab.panes` and one of each pane's variables, and no title is made twice.
--- WezTerm runs only the handler that was registered first, so what is not ours is wrapped, never replaced.
---
--- In the fancy tab bar the colours of a tab's first cell are those of the whole tab. So a fill begins with it, and
--- every other light has a blank before it, which keeps the tab's colours its own.

local wezterm = require('wezterm')
local bar = require('tallylight.ui.bar')
local memo = require('tallylight.model.memo')
local panes = require('tallylight.pane.panes')
local text = require('tallylight.wire.text')
local words = require('tallylight.model.status')

local M = {}

---@type tallylight.Options
M.options = nil
--- The tab bar, as the configuration had it at the last call.
---@type tallylight.Look
M.look = bar.look({})
--- The sidecar's scene; nil without one.
---@type tallylight.Scene|nil
M.scene = nil
--- The colours that other handlers give tabs, for the sidecar, and how many there are.
---@type table<string, boolean>
M.grounds, M.ground_count = {}, 0
--- Whether lights that pulse are in the upper half of that.
M.is_bright = false
--- Whether WezTerm has called our handler: if not, another one came first.
M.is_called = false
--- How the handler of somebody else failed, if it did.
---@type string|nil
M.failure = nil

--- Cells from which on a tab has room for more than a name and its mark; from which on for a name; and for its index.
local WIDE, NAMED, INDEXED = 10, 6, 4
--- The least of *what* that is worth its cells, the most that a fancy tab shows, and the least of a name before a
--- countdown, which is shown whole.
local LEAST_WHAT, MOST_WHAT, LEAST_NAME = 5, 40, 2
--- The light before a title that somebody else made.
local LIGHT_CELLS = 5
--- The cells around the title of a fancy tab, and the part of them for its button.
local EDGES, BUTTON_CELLS = 3, 2
--- How many letters of a fancy bar's font, which is narrower than the terminal's, take a cell.
local LETTERS = 1.25
--- Cells from which on a name gives half of them to *what*.
local SHARED = 16
--- Colours of other handlers that are remembered.
local MOST_GROUNDS = 16

--- Return the state of a tab: from the sidecar's scene, or else from the most urgent of its panes.
---@param tab table # TabInformation
---@return tallylight.State|nil # nil where there is nothing to say
local function light_of(tab)
  if M.scene then
    return M.scene.tabs[tostring(tab.tab_id)]
  end
  local best
  for _, pane in ipairs(tab.panes) do
    local state = panes.state(pane.pane_id, pane.user_vars)
    local rank = state and words.PRECEDENCE[state.status] or 0
    if rank > (best and words.PRECEDENCE[best.status] or 0) then
      best = state
    end
  end
  return best
end

--- About how many cells a tab of a fancy bar has beside its button. The bar gives each the same share of its window,
--- and shows no more of a title.
---@param shown table[]
---@param count integer # of tabs
---@return integer
local function share(shown, count)
  local columns = 0
  for _, pane in ipairs(shown) do
    columns = math.max(columns, pane.left + pane.width)
  end
  return math.max(2, columns // (count + 1) - EDGES)
end

--- Return the state of a tab, for a user's own handler.
---@param tab table # TabInformation
---@return tallylight.State|nil
function M.tab_state(tab)
  return light_of(tab)
end

---@param state tallylight.State
---@param cells number
---@return string
local function mark_of(state, cells)
  return state.mark .. (state.collides and cells >= NAMED and words.COLLISION or '')
end

--- *value* in at most so many cells, with *sign* at its end where something is left out. Then it takes all of them:
--- WezTerm asks again with what the first answer took, and the second is to be the same.
---@param value string
---@param cells number
---@param sign string
---@return string
local function cut(value, cells, sign)
  if wezterm.column_width(value) <= cells then
    return value
  end
  value = wezterm.truncate_right(value, math.max(0, cells - wezterm.column_width(sign))):gsub(' +$', '') .. sign
  return value .. (' '):rep(cells - wezterm.column_width(value))
end

--- The words of a tab in so many cells: the first of these that fits, else the name as far as it goes.
---@param title tallylight.Title
---@param cells number
---@return string
local function fitting(title, cells)
  local index = title.index ~= '' and title.index .. ': ' or ''
  if title.what ~= '' then
    local whole = title.name .. ': ' .. cut(title.what, MOST_WHAT, '…')
    for _, words_ in ipairs({ index .. whole, whole }) do
      if wezterm.column_width(words_) <= cells then
        return words_
      end
    end
    local rest = cells - wezterm.column_width(title.is_countdown and title.what or title.name) - 2
    if title.is_countdown and rest >= LEAST_NAME then
      return cut(title.name, rest, '…') .. ': ' .. title.what
    elseif not title.is_countdown and rest >= LEAST_WHAT then
      return title.name .. ': ' .. cut(title.what, rest, '…')
    elseif not title.is_countdown and cells >= SHARED then
      local name = cut(title.name, cells // 2, '…'):gsub(' +$', '') .. ': '
      return name .. cut(title.what, cells - wezterm.column_width(name), '…')
    end
  end
  local named = index .. title.name
  return wezterm.column_width(named) <= cells and named or cut(title.name, cells, cells < NAMED and '' or '…')
end

--- Return the attributes that a title sets before its first text.
---@param items table[]
---@return table[]
local function leading_of(items)
  local leading = {}
  for _, item in ipairs(items) do
    if type(item) ~= 'table' or item.Text then
      break
    end
    leading[#leading + 1] = item
  end
  return leading
end

--- A circle that fills, as WezTerm draws it: nerdfonts' `md_checkbox_blank_circle_outline`, `md_circle_slice_1` to `8`.
local CIRCLE, SLICES = '\u{f0130}', 0xf0a9e
local BOUNDS = { 5, 18, 31, 43, 56, 68, 81, 94 }

--- Whether panes have a progress bar here: on the stable release asking for it raises. nil: not tried yet.
---@type boolean|nil
local has_progress

--- How far a pane is, for the circle that WezTerm's own title has, and whether that is red; nil where it has none.
---@param pane table|nil # PaneInformation
---@return number|nil percent, boolean is_error
local function progress_of(pane)
  if not pane or has_progress == false then
    return nil, false
  end
  local is_good, progress = pcall(function()
    return pane.progress
  end)
  has_progress = is_good
  if not is_good or type(progress) ~= 'table' then
    return nil, false
  end
  return tonumber(progress.Percentage or progress.Error), progress.Error ~= nil
end

---@param percent number
---@param is_error boolean
---@return table[] items, integer cells
local function circle(percent, is_error)
  local glyph = CIRCLE
  for index, bound in ipairs(BOUNDS) do
    if percent > bound then
      glyph = utf8.char(SLICES + index - 1)
    end
  end
  local colour = { Foreground = { AnsiColor = is_error and 'Red' or 'Green' } }
  return { colour, { Text = glyph .. ' ' }, { Foreground = 'Default' } }, 2
end

--- The mark with its blanks, and the words behind it, in so many cells; and whether the mark is filled.
---@param state tallylight.State
---@param paint tallylight.Paint
---@param title tallylight.Title
---@param cells number
---@return string lead, string rest, boolean is_filled
local function layout(state, paint, title, cells)
  local mark, is_whole, is_stripe = mark_of(state, cells), paint.ground ~= nil, M.options.style == 'stripe'
  local is_news = paint.fill ~= nil and not words.FILLED[state.status]
  local lead = is_stripe and state.stripe .. mark or paint.fill and ' ' .. mark .. ' ' or mark
  local before, behind = is_whole and paint.fill == paint.ground and '' or ' ', is_whole and ' ' or ''
  local width, room = utf8.len(mark), cells - utf8.len(lead .. before .. behind)
  if is_stripe or cells >= WIDE or room >= wezterm.column_width(title.name) then
    return lead, before .. fitting(title, math.max(1, room)) .. behind, true
  elseif cells >= NAMED then
    if is_news then
      return lead, cut(title.name, cells - width - 2, ''), true
    end
    return mark, ' ' .. cut(title.name, cells - width - 1, ''), true
  elseif cells >= INDEXED or (cells > 1 and is_whole and paint.fill ~= paint.ground) then
    local index = width + #title.index <= cells and title.index or ''
    return mark, index .. (' '):rep(cells - width - #index), true
  end
  return cells == 3 and is_whole and ' ' .. mark .. ' ' or mark, '', not is_news
end

--- Return the format items of a light and of the text after it.
---@param lead string
---@param rest table[] # items
---@param paint tallylight.Paint
---@param leading table[] # what the title sets before its first text: the colours of its tab
---@param has_room boolean # whether the bar has room for more
---@return table[]
local function painted(lead, rest, paint, leading, has_room)
  local items = {}
  local function add(...)
    for _, item in ipairs({ ... }) do
      items[#items + 1] = item
    end
  end
  local function filled(ground, sign)
    add({ Background = { Color = ground } }, { Foreground = { Color = sign } }, { Attribute = { Intensity = 'Bold' } })
  end
  local has_box = paint.ground ~= paint.fill
  if not paint.ground then
    add(table.unpack(leading))
  elseif has_box then
    filled(paint.ground, paint.words)
  end
  if M.look.fancy and (has_box or not paint.ground) then
    add({ Text = ' ' })
  end
  if paint.fill then
    filled(paint.fill, paint.sign)
  else
    add({ Foreground = { Color = paint.sign } })
  end
  local mark, rest_of_lead = lead:match('^(.-)' .. words.COLLISION .. '(.*)$')
  if mark and not paint.fill then
    local amber, own = { Foreground = { Color = paint.also } }, { Foreground = { Color = paint.sign } }
    add({ Text = mark }, amber, { Text = words.COLLISION }, own, { Text = rest_of_lead })
  else
    add({ Text = lead })
  end
  if not paint.ground and not paint.hollow then
    add('ResetAttributes', table.unpack(leading))
  elseif paint.ground and has_box then
    filled(paint.ground, paint.words)
  end
  add(table.unpack(rest))
  if has_room and M.look.has_buttons then
    -- WezTerm draws the button over the end of a text.
    add({ Text = (' '):rep(BUTTON_CELLS) })
  end
  if paint.ground and not M.look.fancy then
    -- Two filled tabs side by side are still two.
    add('ResetAttributes', { Background = { Color = M.look.bar } })
  end
  return M.look.fancy and items or (add({ Text = ' ' }) or items)
end

--- The colour that a title gives its tab, else that of such a tab.
---@param leading table[]
---@param is_active boolean
---@return string
local function ground_of(leading, is_active)
  for _, item in ipairs(leading) do
    local colour = type(item.Background) == 'table' and item.Background.Color
    if type(colour) == 'string' and colour:find('^#%x%x%x%x%x%x$') then
      return colour:upper()
    end
  end
  return (is_active and M.look.active or M.look.tab):upper()
end

---@class tallylight.Paint
---@field fill string|nil # the mark's ground; none for a plain mark
---@field sign string # the mark's colour
---@field plain string|nil # that without a fill
---@field also string|nil # that of the sign of a collision, on no fill
---@field words string|nil # that of the words on the fill, where all of the tab is filled
---@field ground string|nil # what that is filled with
---@field hollow boolean|nil # whether the words have the colour of the mark, on no fill
---@field bright tallylight.Paint|nil # what is otherwise in the upper half of a pulse

--- How the light of *state* is painted. Without a sidecar nobody has looked whether that can be read.
---@param state tallylight.State
---@param ground string # of a tab that keeps its colours
---@param keeps boolean # whether it does: the active one, or one that somebody else made
---@return tallylight.Paint
local function paint_of(state, ground, keeps)
  local paints = M.scene and M.scene.paints or {}
  local found = (paints[keeps and ground or 'tab'] or paints.tab or {})[state.status]
  local colour = M.options.colours[state.status] or words.COLOURS[state.status]
  local is_filled = words.FILLED[state.status] and M.options.style ~= 'stripe'
  local default = is_filled and { fill = colour, sign = '#000000' } or { sign = colour }
  found = found or default
  if M.options.style == 'stripe' then
    return { sign = found.plain or found.sign, also = found.also }
  end
  local paint = {}
  for name, value in pairs(found) do
    paint[name] = value
  end
  if not M.scene and is_filled and not keeps then
    paint.ground, paint.words = paint.fill, paint.sign
  elseif keeps then
    -- The paint of another ground, until that of this one is known.
    paint.ground, paint.words = nil, nil
  end
  for name, value in pairs(M.is_bright and state.pulses and paint.bright or {}) do
    paint[name] = paint[name] and value
  end
  return paint
end

--- The items of a tab with the light of *state*. *made* is what somebody else made of its title; it keeps its colours.
---@param state tallylight.State
---@param title tallylight.Title
---@param is_active boolean
---@param width integer|nil # nil in a fancy tab bar, which draws all of it
---@param made table[]|nil
---@return table[]
local function lit_items(state, title, is_active, width, made)
  local leading = made and leading_of(made) or {}
  local ground = ground_of(leading, is_active)
  if made and not M.grounds[ground] and M.ground_count < MOST_GROUNDS then
    M.grounds[ground], M.ground_count = true, M.ground_count + 1
  end
  local paint = paint_of(state, ground, is_active or made ~= nil)
  local has_room = M.look.fancy and width == nil
  if made then
    local rest = table.move(made, #leading + 1, #made, 2, { { Text = ' ' } })
    local lead = layout(state, paint, title, math.huge)
    return painted(lead, rest, paint, leading, has_room)
  end
  -- One cell parts a tab from the next.
  local cells = width and math.max(1, width - 1) or title.letters or math.huge
  local around, taken = {}, 0
  if title.percent and cells >= WIDE and not paint.ground then
    around, taken = circle(title.percent, title.is_error)
  end
  local lead, rest, is_filled = layout(state, paint, title, cells - taken)
  if taken > 0 then
    table.insert(around, 1, { Text = ' ' })
    rest = rest:sub(2)
  end
  around[#around + 1] = { Text = rest }
  if cells == 1 and paint.ground then
    paint.fill, paint.sign = paint.ground, paint.words
  end
  paint = is_filled and paint or { sign = paint.plain or paint.sign, also = paint.also }
  return painted(lead, around, paint, leading, has_room)
end

---@class tallylight.Title
---@field index string
---@field name string
---@field what string # what it waits for, or why it failed
---@field is_countdown boolean|nil # whether that is how long a limit yet lasts
---@field is_ours boolean|nil # whether the name is not that of the program
---@field percent number|nil
---@field is_error boolean|nil
---@field letters integer|nil # that a fancy tab has room for

--- Return the text of a tab, a person's own name first. Without a sidecar it is WezTerm's.
---@param tab table # TabInformation
---@param state tallylight.State
---@return tallylight.Title
local function title_of(tab, state)
  local active = tab.active_pane
  local title = { index = '', name = text.sanitise(tab.tab_title), what = state.what, is_countdown = state.countdown }
  if title.name == '' then
    title.name, title.is_ours = state.name, state.ours
  end
  if title.name == '' then
    title.name = text.sanitise(active and active.title)
  end
  if M.look.index then
    title.index = string.format('%d', tab.tab_index + (M.look.zero_based and 0 or 1))
  end
  title.percent, title.is_error = progress_of(active)
  return title
end

--- Whether a light is drawn: what is idle has none, but in the style of a stripe.
---@param state tallylight.State|nil
---@return boolean
local function is_lit(state)
  return state ~= nil and M.options.title ~= false and (state.status ~= 'idle' or M.options.style == 'stripe')
end

--- A cache of titles by all their inputs: with each turn of a spinner, WezTerm asks for every title twice.
local formatted = memo.of(512, function(_, state, title, is_active, width)
  if is_lit(state) then
    return lit_items(state, title, is_active, width)
  end
  return { { Text = fitting(title, width and width - 1 or math.huge) .. (width and ' ' or '') } }
end)

--- A tab as we draw it by ourselves; nil where WezTerm's own title is right.
---@param tab table # TabInformation
---@param state tallylight.State
---@param width integer|nil
---@param letters integer|nil # where there is no width
---@return table[]|nil
local function own_items(tab, state, width, letters)
  local title = title_of(tab, state)
  title.letters = letters
  if not is_lit(state) and (title.percent or not title.is_ours or (width and width <= NAMED)) then
    return nil
  end
  local is_active = tab.is_active
  local key = table.concat({
    state.status,
    state.mark,
    title.index,
    title.name,
    title.what,
    M.look.key,
    M.scene and M.scene.written or '',
    string.format('%s %s %s %s %s', is_active, width, letters, title.percent, title.is_error),
    tostring(M.is_bright),
  }, '\0')
  return formatted(key, state, title, is_active, width)
end

--- Return another handler's title with its light.
---@param tab table # TabInformation
---@param made string|table
---@param state tallylight.State
---@param width integer|nil
---@return table[]
local function lit_of_others(tab, made, state, width)
  local title = { index = '', name = tostring(made), what = '' }
  -- A text with colours of its own can be neither measured nor painted over.
  local is_plain = type(made) == 'string' and not made:find('\27', 1, true)
  local items = type(made) == 'table' and made or not is_plain and { { Text = title.name } } or nil
  return lit_items(state, title, tab.is_active, width, items)
end

--- *text*, a string or a list of format items, with the light of *tab* before it; as it is where there is none.
---@param tab table # TabInformation
---@param made string|table
---@param state tallylight.State|nil # if it is known already
---@return string|table
function M.decorate(tab, made, state)
  state = state or M.tab_state(tab)
  return is_lit(state) and lit_of_others(tab, made, state) or made
end

--- Whether WezTerm can draw *item* of a title: a text, an attribute, or a colour.
---@param item any
---@return boolean
local function is_item(item)
  if type(item) ~= 'table' then
    return item == 'ResetAttributes'
  end
  local name, value = next(item)
  if next(item, name) ~= nil then
    return false
  elseif name == 'Foreground' or name == 'Background' then
    return value == 'Default' or (type(value) == 'table' and type(value.Color or value.AnsiColor) == 'string')
  end
  return (name == 'Text' and type(value) == 'string') or (name == 'Attribute' and type(value) == 'table')
end

--- Whether WezTerm can draw *made*: if not, it takes the light away, too.
---@param made any
---@return boolean
local function is_title(made)
  if type(made) ~= 'table' then
    return made == nil or type(made) == 'string'
  end
  for _, item in ipairs(made) do
    if not is_item(item) then
      return false
    end
  end
  return true
end

--- Return the result of *formatter*; nil if it fails, which is logged once.
---@return string|table|nil
local function made_by(formatter, ...)
  local is_good, made = pcall(formatter, ...)
  if is_good and is_title(made) then
    return made
  end
  local is_text, problem = pcall(tostring, is_good and 'it returns what WezTerm cannot draw' or made)
  M.failure = M.failure or (is_text and problem or 'unknown')
  return nil
end

--- A handler of `format-tab-title` that puts the light before what *formatter* returns.
---
--- Where that returns nothing or fails, or where there is no *formatter*, the title is ours.
---@alias tallylight.Formatter fun(tab: table, tabs: table, panes: table, config: any, hover: boolean, width: integer)
---@param formatter tallylight.Formatter|nil
---@return tallylight.Formatter
function M.wrap(formatter)
  return function(tab, tabs, tab_panes, config, hover, max_width)
    local state
    if M.options.title ~= false then
      M.look = config and bar.look(config) or M.look
      state = light_of(tab)
    end
    max_width = max_width or 16
    local made
    if formatter then
      local rest = is_lit(state) and math.max(1, max_width - LIGHT_CELLS) or max_width
      made = made_by(formatter, tab, tabs, tab_panes, config, hover, rest)
    end
    if not state or (made ~= nil and not is_lit(state)) then
      return made
    end
    local width, letters = max_width, nil
    if M.look.fancy then
      width = share(tab.panes, #tabs)
      if width >= WIDE and state.status ~= 'limited' then
        -- An estimate: the bar itself cuts what is still too long.
        width, letters = nil, math.floor(width * LETTERS) - BUTTON_CELLS
      end
    end
    if made ~= nil then
      return lit_of_others(tab, made, state, width)
    end
    return own_items(tab, state, width, letters)
  end
end

--- A component for tabline.wez: the mark of the tab's light and a space, or nothing.
---@param tab table # TabInformation
---@return string
function M.component(tab)
  local state = M.options.title ~= false and M.tab_state(tab) or nil
  return state and is_lit(state) and state.mark .. ' ' or ''
end

--- For a status bar: how many panes wait, have ended, work; `!2 ●1`. Nothing where there is none, or no sidecar.
---@return string
function M.summary()
  return M.scene and M.scene.summary or ''
end

local SLOT = 'tallylight.titles-slot'

--- The state that all copies of these files share in one Lua state: the drawing function, another handler, and the
--- function that calls one handler for both. WezTerm calls only the first handler of `format-tab-title`, and one
--- registered earlier cannot be found. Until `register` draws, the other one is called as before.
---@return { draw: tallylight.Formatter|nil, inner: tallylight.Formatter|nil, take: fun() }
function M.hook()
  if package.loaded[SLOT] then
    return package.loaded[SLOT]
  end
  local on, slot, is_taken = wezterm.on, {}, false
  function slot.take()
    if not is_taken then
      is_taken = true
      on('format-tab-title', function(...)
        return (slot.draw or slot.inner)(...)
      end)
    end
  end
  wezterm.on = function(name, handler)
    if name ~= 'format-tab-title' then
      return on(name, handler)
    end
    -- The first one counts, as everywhere.
    slot.inner = slot.inner or handler
    slot.take()
  end
  package.loaded[SLOT] = slot
  return slot
end

--- Draw the titles: with 'own' like WezTerm's; with 'auto' as the handler of somebody else makes them, if there is one.
function M.register()
  local slot, is_auto = M.hook(), M.options.title == 'auto'
  local ours = M.wrap(function(...)
    return is_auto and slot.inner and slot.inner(...) or nil
  end)
  function slot.draw(...)
    M.is_called = true
    return ours(...)
  end
  slot.take()
end

return M
