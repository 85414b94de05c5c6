--- The tab bar that is there, by the configuration in force. The sidecar computes the colours of the lights in it.
---
--- Pure.

local M = {}

---@class tallylight.Look
---@field fancy boolean
---@field index boolean # whether titles have WezTerm's index
---@field zero_based boolean
---@field bar string # `#RRGGBB`, as all of these
---@field tab string
---@field active string
---@field touching string[] # the colours beside an inactive tab
---@field has_buttons boolean # whether tabs have a button that closes them
---@field key string # tells one look from all others

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

--- Return the tab bar of *config*: the one that a handler gets, or one that is still being written.
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
    has_buttons = fancy and config.show_close_tab_button_in_tabs ~= false,
  }
  look.touching = { look.bar, look.tab, fancy and colour_or(frame.active_titlebar_bg, '#333333') or nil }
  look.key = string.format('%s %s %s %s', fancy, look.index, look.zero_based, look.has_buttons)
  return look
end

return M
