"""Tallylight: a truthful light on every terminal tab that runs a coding agent."""

__version__ = "0.2.0"
