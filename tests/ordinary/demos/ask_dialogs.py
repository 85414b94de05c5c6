from prompt_toolkit import prompt
from prompt_toolkit.shortcuts import button_dialog, radiolist_dialog, yes_no_dialog

yes_no_dialog("Save", "Save the file before leaving?").run()
radiolist_dialog("Colour", "Which one?", values=[("r", "Red"), ("g", "Green")]).run()
button_dialog("Conflict", "Both have changed.", buttons=[("Mine", 1), ("Theirs", 2), ("Cancel", 3)]).run()
prompt("> ", bottom_toolbar=" F1 help   F10 leave ")
