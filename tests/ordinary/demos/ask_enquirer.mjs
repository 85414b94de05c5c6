import enquirer from "enquirer";

await enquirer.prompt([
  { type: "select", name: "a", message: "Which colour?", choices: ["Red", "Green", "Blue"] },
  { type: "confirm", name: "b", message: "Overwrite the file?" },
  { type: "multiselect", name: "c", message: "Which parts?", choices: ["Docs", "Tests", "Tools"] },
  { type: "form", name: "d", message: "An account", choices: [{ name: "name", message: "Name" }, { name: "mail", message: "Mail" }] },
]);
