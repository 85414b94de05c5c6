from simple_term_menu import TerminalMenu

TerminalMenu(["[a] Apply", "[b] Back", "[q] Quit"], title="Apply the changes?").show()
TerminalMenu([f"Entry {n}" for n in range(40)], title="Go to", show_search_hint=True).show()
