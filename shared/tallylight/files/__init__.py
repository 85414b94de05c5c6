"""
Files on disk: the places of Tallylight's own, bounded reading and safe writing, and changes to files of the user.

Reading is bounded, writing is by rename, and a change to a user's file has a backup and a receipt. This room does input
and output and decides nothing. Start with `directories`.
"""
