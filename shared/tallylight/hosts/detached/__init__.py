"""Detached sessions: how a pane of tmux or GNU Screen is read, answered and typed into. Start with `sessions`."""
