import questionary

questionary.select("Which colour?", ["Red", "Green", "Blue"]).ask()
questionary.confirm("Remove all files?").ask()
questionary.checkbox("Which parts?", ["Docs", "Tests", "Tools"]).ask()
questionary.rawselect("Which region?", ["Europe", "America"]).ask()
questionary.text("What is it called?").ask()
