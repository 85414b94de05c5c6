"""
Hosts: where panes come from, and where their lights are drawn.

`kitty` runs inside kitty. `wezterm`, `tmux`, `gnu_screen` and `registry` are sources of the `polling` host, which asks
them for their panes again and again. `detached` holds the panes of sessions. `engine` has what the hosts of kitty and
`polling` share: start there, then read `polling.host` or `kitty.host`.
"""
