local M = {}
function M.apply(config)
  config.font_size = 12
  config.colors = { tab_bar = { background = '#1e1e2e', inactive_tab = { bg_color = '#313244', fg_color = '#cdd6f4' } } }
end
return M
