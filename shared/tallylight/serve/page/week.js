// The last seven days: how long agents worked and waited, for each day and for each project. Asked for when it is opened.
"use strict";

const SUMMED = ["turns", "worked_s", "waited_s", "questions", "errors"];
// Projects that are named; the rest are one row.
const MAX_PROJECTS = 8;

function span(seconds) {
  const minutes = Math.round(seconds / 60);
  if (seconds < 60) return seconds ? `${Math.round(seconds)}s` : "0";
  return minutes < 60 ? `${minutes}m` : `${Math.floor(minutes / 60)}h ${String(minutes % 60).padStart(2, "0")}m`;
}

// The sums of all that have the same *key*, in the order of *keys*, and behind them of others.
function summed(sums, key, keys = []) {
  const rows = new Map(keys.map((one) => [one, Object.fromEntries(SUMMED.map((name) => [name, 0]))]));
  for (const one of sums) {
    if (!rows.has(key(one))) rows.set(key(one), Object.fromEntries(SUMMED.map((name) => [name, 0])));
    for (const name of SUMMED) rows.get(key(one))[name] += one[name];
  }
  return [...rows];
}

// A date of the server as a person calls it; at noon, it is the same date everywhere this is asked.
function dayName(day) {
  return new Date(`${day}T12:00:00`).toLocaleDateString([], { weekday: "short", day: "numeric", month: "short" });
}

function bar(row, most) {
  const node = element("span", "", "spent");
  node.setAttribute("aria-hidden", "true");
  for (const [name, status] of [["worked_s", "working"], ["waited_s", "waiting"]]) {
    const part = element("span", "");
    part.dataset.status = status;
    part.style.width = `${most ? (100 * row[name]) / most : 0}%`;
    node.append(part);
  }
  return node;
}

function table(caption, head, rows) {
  const made = document.createElement("table");
  made.append(element("caption", caption));
  const titles = document.createElement("tr");
  for (const title of [head, "worked", "waited for you", "turns", "questions", "errors"]) {
    titles.append(Object.assign(element("th", title), { scope: "col" }));
  }
  made.createTHead().append(titles);
  const body = made.createTBody();
  const most = Math.max(...rows.map(([, row]) => row.worked_s + row.waited_s));
  for (const [title, row] of rows) {
    const line = body.insertRow();
    const first = Object.assign(element("th", ""), { scope: "row" });
    first.append(element("span", title), bar(row, most));
    line.append(first);
    for (const text of [span(row.worked_s), span(row.waited_s), row.turns, row.questions, row.errors]) line.append(element("td", text));
  }
  return made;
}

async function showWeek() {
  const box = at("week-sums");
  try {
    const { days, sums } = await ask("history?days=7");
    const perDay = summed(sums, (one) => one.day, days).map(([day, row]) => [dayName(day), row]);
    const perProject = summed(sums, (one) => one.project || "no project").sort(([, a], [, b]) => b.worked_s - a.worked_s);
    const rest = perProject.splice(MAX_PROJECTS);
    if (rest.length) perProject.push(...summed(rest.map(([, row]) => row), () => `${rest.length} others`));
    box.replaceChildren(table("Days", "day", perDay), ...(perProject.length ? [table("Projects", "project", perProject)] : []));
    put(at("week-problem"), perProject.length ? "" : "No turn of an agent has ended in these days.");
  } catch (error) {
    box.replaceChildren();
    put(at("week-problem"), error.message);
  }
}

at("week").ontoggle = () => { if (at("week").open) showWeek(); };
