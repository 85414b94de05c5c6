"""tmux: the panes of every server of this user as a source of the polling host. Start with `source`."""
