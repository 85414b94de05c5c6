from pick import pick

pick(["Deploy", "Roll back", "Cancel"], "What now?", indicator="=>")
pick(["Docs", "Tests", "Tools"], "Which parts?", multiselect=True)
