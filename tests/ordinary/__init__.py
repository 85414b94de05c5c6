"""Ordinary programs, which are no agents: recordings of them, and that none of them ever has a light."""
