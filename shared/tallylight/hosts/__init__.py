"""
Hosts: where panes come from, and where their lights are drawn.

`kitty` runs inside kitty; `wezterm`, `tmux`, `gnu_screen` and `registry` are sources of the `polling` host, which asks
from outside. Every host feeds `tallylight.pane` and publishes a snapshot. Hosts do not know each other, except for
`polling`. What those of kitty and of `polling` have in common is in `engine`: start there, then with `polling.host` or
`kitty.host`.
"""
