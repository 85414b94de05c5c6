local wezterm = require 'wezterm'
local act = wezterm.action

-- return {} would be the oldest form
local text = [[
return 'nothing'
]]
local cfg = wezterm.config_builder()
cfg.font_size = 12
cfg.leader = { key = 'a', mods = 'CTRL', timeout_milliseconds = 1000 }
cfg.keys = {
  { key = 'i', mods = 'SHIFT|CTRL', action = act.ActivateTab(1) },
  { key = 'A', mods = 'CTRL', action = act.ActivateTab(2) },
}
for i = 1, 9 do
  table.insert(cfg.keys, { key = tostring(i), mods = 'LEADER', action = act.ActivateTab(i - 1) })
end
return cfg --[[ the end ]]
