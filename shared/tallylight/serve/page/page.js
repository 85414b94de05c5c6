// The page: a list of all sessions, live over the WebSocket. Text of programs goes into text nodes only.
"use strict";

const MARKS = { working: "●", background: "◌", done: "✓", error: "✗", down: "○", idle: "·" };
const ORDER = ["waiting", "error", "down", "done", "background", "working", "idle", "active"];
const sessions = new Map();
const items = new Map();
const at = (id) => document.getElementById(id);
let token = location.hash.slice(1) || sessionStorage.getItem("tally.token") || "";
let wait = 1;

// The token is in no history entry and no bookmark.
if (location.hash) history.replaceState(null, "", location.pathname);

function age(since) {
  const seconds = Math.max(0, Date.now() / 1000 - since);
  if (!since) return "";
  if (seconds < 60) return `${Math.floor(seconds)}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  return `${Math.floor(seconds / 3600)}h`;
}

async function ask(path, address, body) {
  const options = { headers: { Authorization: `Bearer ${token}` } };
  if (body !== undefined) {
    options.method = "POST";
    options.body = JSON.stringify(body);
    options.headers["Content-Type"] = "application/json";
  }
  const answer = await fetch(`api/v1/${path}?address=${encodeURIComponent(address)}`, options);
  const found = await answer.json();
  if (!answer.ok) throw new Error(typeof found.detail === "string" ? found.detail : `it failed (${answer.status})`);
  return found;
}

function make(address) {
  const item = at("session").content.firstElementChild.cloneNode(true);
  const problem = item.querySelector(".problem");
  const screen = item.querySelector("pre");
  const attempt = async (what) => {
    problem.textContent = "";
    try { await what(); } catch (error) { problem.textContent = error.message; }
  };
  const look = () => attempt(async () => {
    screen.textContent = (await ask("buffer", address)).lines.join("\n");
    screen.hidden = false;
  });
  item.querySelector(".look").onclick = () => (screen.hidden ? look() : (screen.hidden = true));
  item.querySelector(".interrupt").onclick = () => attempt(() => ask("interrupt", address, {}));
  item.querySelector(".say").onsubmit = (event) => {
    event.preventDefault();
    const field = event.target.querySelector("input");
    if (field.value) attempt(async () => { await ask("text", address, { text: field.value }); field.value = ""; });
  };
  return item;
}

function fill(item, session) {
  const put = (name, text) => { item.querySelector(name).textContent = text; };
  item.dataset.status = session.status;
  item.dataset.address = session.address;
  put(".mark", session.status === "waiting" ? (session.kind === "permission" ? "!" : "?") : MARKS[session.status] || "");
  put(".name", [session.host_title || session.project || session.title || session.address, session.agent].filter(Boolean).join(" · "));
  put(".status", session.kind ? `${session.status} (${session.kind})` : session.status);
  put(".age", age(session.since));
  put(".question", session.question);
  put(".message", session.message === session.question ? "" : session.message);
  const [done, total] = session.progress.split("/").map(Number);
  const bar = item.querySelector("progress");
  bar.hidden = !(total > 0);
  if (total > 0) { bar.max = total; bar.value = done; }
  item.querySelector(".tools").hidden = !session.can_type;
}

function draw() {
  const sorted = [...sessions.values()].sort((a, b) =>
    ORDER.indexOf(a.status) - ORDER.indexOf(b.status) || b.since - a.since || (a.address < b.address ? -1 : 1));
  for (const [address, item] of items) if (!sessions.has(address)) { item.remove(); items.delete(address); }
  const list = at("list");
  sorted.forEach((session, index) => {
    if (!items.has(session.address)) items.set(session.address, make(session.address));
    const item = items.get(session.address);
    fill(item, session);
    // Moved only when out of place: moving takes the keyboard's focus away.
    if (list.children[index] !== item) list.insertBefore(item, list.children[index] || null);
  });
  const waiting = sorted.filter((session) => session.status === "waiting").length;
  at("summary").textContent = `${waiting} waiting, ${sorted.length} in all`;
  at("nothing").hidden = sorted.length > 0;
  document.title = waiting ? `(${waiting}) Tallylight` : "Tallylight";
}

function connect() {
  if (!token) { at("enter").hidden = false; at("summary").textContent = "locked"; return; }
  const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${location.pathname}api/v1/changes`,
    ["tally.v1", `tally.token.${token}`]);
  socket.onopen = () => { wait = 1; at("enter").hidden = true; sessionStorage.setItem("tally.token", token); };
  socket.onmessage = (message) => {
    const event = JSON.parse(message.data);
    if (event.type === "state") {
      sessions.clear();
      for (const session of event.sessions) sessions.set(session.address, session);
    } else if (event.type === "change") sessions.set(event.session.address, event.session);
    else sessions.delete(event.address);
    draw();
  };
  socket.onclose = async () => {
    at("summary").textContent = "not connected";
    const answer = await fetch("api/v1/counts", { headers: { Authorization: `Bearer ${token}` } }).catch(() => null);
    if (answer && answer.status === 401) { token = ""; sessionStorage.removeItem("tally.token"); connect(); return; }
    setTimeout(connect, wait * 1000);
    wait = Math.min(30, wait * 2);
  };
}

at("enter").onsubmit = (event) => { event.preventDefault(); token = at("token").value.trim(); connect(); };
setInterval(() => { for (const [address, item] of items) item.querySelector(".age").textContent = age(sessions.get(address).since); }, 1000);
connect();
