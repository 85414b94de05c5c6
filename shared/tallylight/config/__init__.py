"""
Settings: the user's `config.toml`, with every key, its default and its limits, and how it is read.

A bad value costs itself and is reported with its line. Start with `settings`, where each key is declared, once
(`declared`); docs/configuration.md shows them.
"""
