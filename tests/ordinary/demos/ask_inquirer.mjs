import { checkbox, confirm, expand, rawlist, search, select } from "@inquirer/prompts";

const words = ["Red", "Green", "Blue"].map((name) => ({ name, value: name }));
await select({ message: "Which colour?", choices: words });
await confirm({ message: "Delete the branch?" });
await rawlist({ message: "Which one first?", choices: words });
await checkbox({ message: "Which parts?", choices: words });
await expand({ message: "Conflict in notes.txt", choices: [{ key: "y", name: "Overwrite", value: "y" }, { key: "n", name: "Skip", value: "n" }] });
await search({ message: "Which package?", source: (text) => words.filter((one) => one.name.includes(text ?? "")) });
