"""
Actions a person asks for: continue a conversation in a new pane. Planned here and only planned; nothing is started.

`gate` has the rules that decide whether an argument list may run, `plan` makes one of what is known of a pane,
`fork_page` is the page that shows it before it runs. docs/security.md is their description for people.
"""
