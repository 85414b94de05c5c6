"""WezTerm: the panes of one WezTerm as a source of the polling host, in a sidecar beside it. Start with `sidecar`."""
