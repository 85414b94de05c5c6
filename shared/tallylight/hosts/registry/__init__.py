"""Sessions that agents keep without a pane, by the registries of the agents themselves. Start with `source`."""
