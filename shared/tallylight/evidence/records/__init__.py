"""
Agents' own records, read: bytes in, values out. Only `places` looks at the disk.
"""
