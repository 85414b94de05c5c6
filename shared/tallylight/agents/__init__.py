"""
Agents as data: one TOML file for each agent says what its processes, titles, screens and hooks look like.

Adding an agent is adding a file here. The room parses and checks these files, the user's own included, and does nothing
else with them. Start with `agent`; docs/agents.md describes every key.
"""
