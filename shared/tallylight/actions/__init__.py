"""
Actions on panes: answers, texts, interruptions, and commands that a program asks to be run.

`perform` carries them out for every surface, `permission` decides who may, and `gate` has the rules for an argument
list that may run. docs/security.md describes them for people.
"""
