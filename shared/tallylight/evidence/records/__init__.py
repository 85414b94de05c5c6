"""Readers of agents' own records: bytes in, values out. Only `places` reads the disk."""
