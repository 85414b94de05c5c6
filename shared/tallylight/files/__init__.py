"""
Files on disk: where Tallylight's own are, how any file is read and written, and how one of the user's is changed.

Reading is bounded, writing is by rename, and a change to a user's file has a backup and a receipt. This room does input
and output and decides nothing. Start with `directories`.
"""
