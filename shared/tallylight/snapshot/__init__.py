"""
The snapshot: the whole state of one host in one JSON file, and the requests of other processes to that host.

`schema` has its fields, `writer` writes and reads the file, and `feed` follows all hosts. `requests` passes requests to
a host. `rows` and `addresses` order and name the panes. Start with `schema`.
"""
