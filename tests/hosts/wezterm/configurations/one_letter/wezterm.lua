---@diagnostic disable: undefined-field
local w = require("wezterm")
local C = {}
if w.config_builder then
	C = w.config_builder()
end
C.font_size = 12
C.keys = {
	{ key = "y", mods = "CTRL|SHIFT", action = w.action.ActivateTab(0) },
}
return C;
