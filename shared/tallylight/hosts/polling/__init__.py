"""The polling host: a process that owns panes it can only ask about from outside. Start with `host` and `source`."""
