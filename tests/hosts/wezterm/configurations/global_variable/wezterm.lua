wezterm = require 'wezterm'
config = wezterm.config_builder()
config.font_size = 12
config.use_fancy_tab_bar = false
config.tab_max_width = 100
function tab_title(info)
  local title = info.tab_title
  if title and #title > 0 then return title end
  return info.active_pane.title
end
wezterm.on("format-tab-title", function(tab, tabs, panes, config, hover, max_width)
  return { { Text = " mine:" .. tostring(tab.tab_index + 1) .. " " .. tab_title(tab) .. " " } }
end)
return config
