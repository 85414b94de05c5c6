"""
Hosts: where panes come from, and where their lights are drawn.

`kitty` runs inside kitty; `wezterm`, `tmux` and `gnu_screen` are sources of the `polling` host, which asks from
outside. Every host feeds `tallylight.pane` and publishes a snapshot. Hosts do not know each other, except for
`polling`. Start with `polling.host`, or with `kitty.host`.
"""
