"""The polling host: a process that can only query its panes from outside. Start with `host` and `source`."""
