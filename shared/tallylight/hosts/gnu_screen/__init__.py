"""GNU Screen: the windows of every session of this user as a source of the polling host. Start with `source`."""
