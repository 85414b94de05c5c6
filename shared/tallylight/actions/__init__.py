"""
Actions a person asks for: answers, texts, interruptions, and what a program asks to be run.

`perform` carries them out for every surface, `permission` says who may, and `gate` has the rules that decide whether an
argument list may run. docs/security.md is their description for people.
"""
