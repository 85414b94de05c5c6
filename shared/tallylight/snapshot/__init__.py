"""
The snapshot: the whole state of one host in one JSON file, and what other processes may ask of that host.

`schema` says what is in it, `writer` writes and reads the file, `feed` follows all hosts, `requests` carries what is
asked, `rows` and `addresses` order and name the panes. Start with `schema`.
"""
