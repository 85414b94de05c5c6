"""
Agents as data: one TOML file for each agent describes its processes, titles, screens and hooks.

To add an agent, add a file here. This room only parses and checks these files, the user's own included. Start with
`agent`; docs/agents.md describes every key.
"""
