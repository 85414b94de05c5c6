import * as p from "@clack/prompts";

p.intro("create-thing");
await p.text({ message: "Where is it to be?", placeholder: "./thing" });
await p.select({ message: "Which kind?", options: [{ value: 1, label: "Library" }, { value: 2, label: "Program" }] });
await p.multiselect({ message: "What with?", options: [{ value: 1, label: "Tests" }, { value: 2, label: "Docs" }] });
await p.confirm({ message: "Install the dependencies?" });
const s = p.spinner();
s.start("Installing");
await new Promise((done) => setTimeout(done, 2500));
s.stop("Installed");
p.outro("Done");
