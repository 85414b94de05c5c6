import inquirer

inquirer.prompt(
    [
        inquirer.List("colour", "Which colour?", ["Red", "Green", "Blue"]),
        inquirer.Confirm("sure", message="Delete the branch?"),
        inquirer.Checkbox("parts", "Which parts?", ["Docs", "Tests", "Tools"]),
        inquirer.Text("name", "What is it called?"),
    ]
)
