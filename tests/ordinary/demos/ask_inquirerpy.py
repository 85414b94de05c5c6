from InquirerPy import inquirer

inquirer.select("Which colour?", ["Red", "Green", "Blue"]).execute()
inquirer.confirm("Overwrite the file?").execute()
inquirer.fuzzy("Which package?", [f"package-{n}" for n in range(30)]).execute()
inquirer.rawlist("Which region?", ["Europe", "America"]).execute()
inquirer.checkbox("Which parts?", ["Docs", "Tests", "Tools"]).execute()
