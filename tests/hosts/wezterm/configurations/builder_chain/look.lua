return { font_size = 12, use_fancy_tab_bar = true, window_frame = { active_titlebar_bg = '#090909' } }
