--- Tallylight in WezTerm: a truthful light on every tab that runs a coding agent.
---
---     local tallylight = require 'tallylight'  -- before any handler of `format-tab-title`
---     tallylight.apply_to_config(config)
---
--- Loading registers nothing, but makes `wezterm.on` keep a handler of `format-tab-title`: WezTerm calls the first one
--- alone. WezTerm evaluates a configuration several times, and its mux server evaluates it too, without a GUI:
--- `apply_to_config` registers handlers, appends keys and remembers the lights, once in each Lua state. On a mux server
--- it judges the panes there, for the GUIs.

local wezterm = require('wezterm')
local actions = require('tallylight.hosts.keys')
local bar = require('tallylight.ui.bar')
local forks = require('tallylight.hosts.fork')
local options = require('tallylight.config.options')
local sidecar = require('tallylight.hosts.sidecar')
local titles = require('tallylight.ui.titles')
local watch = require('tallylight.hosts.events')

local M = {}

titles.options = options.DEFAULTS
if wezterm.gui then
  titles.hook()
end

--- Light the tabs. *opts* are described in docs/wezterm.md; `config` is returned, too.
---@param config table
---@param opts tallylight.Options|table|nil
---@return table
function M.apply_to_config(config, opts)
  if type(config) ~= 'table' then
    wezterm.log_warn('tallylight: apply_to_config needs the configuration; `tally setup` prints the lines for it')
    return config
  end
  -- In the Lua state, not in GLOBAL, which survives a reload; and not in a local, for these files may have been loaded
  -- under two names, `plugin.require` and `require`.
  if package.loaded['tallylight.applied'] then
    return config
  end
  package.loaded['tallylight.applied'] = true
  local merged, problems = options.merge(opts)
  for _, problem in ipairs(problems) do
    wezterm.log_warn('tallylight: ' .. problem)
  end
  titles.options, watch.options, forks.options = merged, merged, merged
  if not wezterm.gui then
    watch.register_server()
    return config
  end
  titles.look = bar.look(config)
  local has_handler = merged.title == 'auto' or merged.title == 'own'
  if has_handler then
    titles.register()
  end
  sidecar.recall()
  watch.register()
  actions.register()
  watch.keys = actions.bind(config, merged.keys)
  watch.has_titles = function()
    return has_handler and config.show_tabs_in_tab_bar ~= false
  end
  watch.show = actions.go
  watch.are_keys_lost = function()
    return actions.are_lost(config)
  end
  return config
end

--- For a `format-tab-title` handler of your own; all of these are pure.
M.tab_state = titles.tab_state
M.decorate = titles.decorate
M.wrap = titles.wrap
--- For tabline.wez: `tab_active = { require('tallylight').component, 'index', … }`.
M.component = titles.component
--- For any status bar: a text about all panes.
M.summary = titles.summary

return M
