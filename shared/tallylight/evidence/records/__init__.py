"""
Agents' own records, read: bytes in, values out.
"""
