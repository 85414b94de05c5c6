"""Sessions that agents keep without a pane, from the agents' own registries. Start with `source`."""
