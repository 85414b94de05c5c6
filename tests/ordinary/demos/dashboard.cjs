const blessed = require("blessed");

const screen = blessed.screen({ smartCSR: true, title: "jobs" });
const list = blessed.list({ parent: screen, border: "line", width: "50%", height: "50%", keys: true, items: ["build", "test", "deploy"], style: { selected: { inverse: true } } });
blessed.log({ parent: screen, border: "line", top: "50%", height: "50%" }).add("waiting for a job");
const ask = blessed.question({ parent: screen, border: "line", top: "center", left: "center", width: 40, height: 8 });
list.on("select", () => ask.ask("Run this job?", () => screen.render()));
screen.key("q", () => process.exit(0));
list.focus();
screen.render();
