import prompts from "prompts";

await prompts([
  { type: "select", name: "a", message: "Which colour?", choices: [{ title: "Red" }, { title: "Green" }, { title: "Blue" }] },
  { type: "confirm", name: "b", message: "Remove all files?" },
  { type: "multiselect", name: "c", message: "Which parts?", choices: [{ title: "Docs" }, { title: "Tests" }] },
  { type: "toggle", name: "d", message: "Use strict mode?", active: "yes", inactive: "no" },
  { type: "autocomplete", name: "e", message: "Which region?", choices: [{ title: "Europe" }, { title: "America" }] },
]);
