--- The tab bar that is there: its colours by the configuration in force, and those of the lights in it.
---
--- Pure. Nothing is computed twice for the same colours.

local contrast = require('tallylight.model.contrast')
local memo = require('tallylight.model.memo')
local words = require('tallylight.model.status')

local M = {}

---@class tallylight.Look
---@field fancy boolean
---@field index boolean # whether titles have WezTerm's index
---@field zero_based boolean
---@field bar string # `#RRGGBB`, as all of these
---@field tab string
---@field active string
---@field touching string[] # what an inactive tab stands beside
---@field key string # tells one look from all others

--- The active tab counts among the neighbours where it is closer than this to a fill, in OKLab.
local NEAR = 0.15

---@param value any
---@param default string
---@return string
local function colour_or(value, default)
  return type(value) == 'string' and value:match('^#%x%x%x%x%x%x$') or default
end

---@param value any
---@return table
local function table_of(value)
  return type(value) == 'table' and value or {}
end

--- What *config* makes of the tab bar: the one that a handler is given, or one that is still being written.
---@param config table
---@return tallylight.Look
function M.look(config)
  local fancy = config.use_fancy_tab_bar ~= false
  local own = table_of(config.colors)
  -- The fancy bar takes its tabs' colours from the person's own, not from a scheme.
  local palette = fancy and own or table_of(config.resolved_palette or own)
  local tabs, frame = table_of(palette.tab_bar), table_of(config.window_frame)
  -- A bar that lets the window shine through.
  local behind = colour_or(type(tabs.background) == 'string' and palette.background, '#333333')
  local look = {
    fancy = fancy,
    index = config.show_tab_index_in_tab_bar ~= false,
    zero_based = config.tab_and_split_indices_are_zero_based == true,
    bar = fancy and colour_or(frame.inactive_titlebar_bg, '#333333') or colour_or(tabs.background, behind),
    tab = colour_or(table_of(tabs.inactive_tab).bg_color, '#333333'),
    active = colour_or(table_of(tabs.active_tab).bg_color, '#000000'),
  }
  look.touching = { look.bar, look.tab, fancy and colour_or(frame.active_titlebar_bg, '#333333') or nil }
  look.key = string.format('%s %s %s %s', fancy, look.index, look.zero_based, look.active)
    .. table.concat(look.touching)
  return look
end

---@class tallylight.Paint
---@field fill string|nil # the mark's ground; none for a plain mark
---@field sign string # the mark's colour
---@field plain string|nil # that without a fill
---@field also string|nil # that of the sign of a collision, on no fill
---@field words string|nil # that of the words on the fill, where all of the tab is filled
---@field ground string|nil # what that is filled with
---@field is_hollow boolean|nil # whether the words have the colour of the mark, on no fill

--- The colours that *colours* give a status, with the default ones behind them.
---@param colours table<string, string>
---@param status tallylight.Status
local function colour_of(colours, status)
  return colours[status] or words.COLOURS[status]
end

--- The fills of a bar, decided once for all of its tabs, and whether they need a black cell for their marks.
local fills_of = memo.of(64, function(_, look, colours)
  local fills, touching = { is_capped = false }, { table.unpack(look.touching) }
  for status in pairs(words.FILLED) do
    if contrast.distance(colour_of(colours, status), look.active) < NEAR then
      touching[#touching + 1] = look.active
    end
  end
  for status in pairs(words.FILLED) do
    fills[status] = contrast.filled(colour_of(colours, status), touching)
    fills.is_capped = fills.is_capped or contrast.needs_caps({ fills[status] }, touching)
  end
  return fills
end)

---@class tallylight.Place
---@field colours table<string, string> # the person's own
---@field ground string # that of the tab itself
---@field keeps boolean # whether the tab keeps its colours: the active one, or one that somebody else made
---@field is_bright boolean # in the upper half of a pulse
---@field is_stripe boolean

--- How the light of *state* is painted in a tab of a bar.
---@param state tallylight.State
---@param look tallylight.Look
---@param place tallylight.Place
---@return tallylight.Paint
function M.paint(state, look, place)
  local fills = fills_of(look.key, look, place.colours)
  local colour, fill = colour_of(place.colours, state.status), fills[state.status]
  local function shown(found)
    return place.is_bright and contrast.lighter(found, words.PULSE_WHITE) or found
  end
  local plain = shown(contrast.legible(colour, place.ground))
  local also = contrast.legible(colour_of(place.colours, 'waiting'), place.ground)
  if place.is_stripe then
    return { sign = plain, also = also }
  elseif not fill then
    local news = state.status == 'done' and contrast.news(colour, place.ground, fills.waiting) or nil
    local is_hollow = state.status == 'limited' and not place.keeps
    local sign = news and contrast.readable_on(news) or plain
    return { fill = news, sign = sign, plain = plain, also = also, is_hollow = is_hollow }
  end
  local paint = { fill = shown(fill), sign = contrast.readable_on(fill), plain = plain, also = also }
  local is_capped = fills.is_capped
  if place.keeps then
    is_capped = is_capped or contrast.needs_caps({ fill }, { place.ground })
  else
    paint.ground, paint.words = paint.fill, paint.sign
  end
  if is_capped then
    paint.fill, paint.sign = contrast.BLACK, shown(fill)
  end
  return paint
end

return M
