// The page: a list of all sessions, live over the WebSocket, its groups and its keys.
// Text of programs goes into text nodes only.
"use strict";

const ORDER = ["waiting", "error", "down", "done", "background", "working", "idle", "active"];
const NEEDS = 4;
// What is told to those who listen to the page: a change to one of these.
const NEWS = new Set(["waiting", "error", "down", "done"]);
const HOSTS = { kitty: "kitty", wezterm: "WezTerm", sessions: "detached sessions" };
const sessions = new Map();
const cards = new Map();
// The sections of the list, by the name of the group.
const groups = new Map();
let token = tokenIn(location.hash) || sessionStorage.getItem("tally.token") || setting("token", "");
let wait = 1;
// When the server was last heard, in words; until then, nothing.
let heard = "";

// The token is in no history entry and no bookmark.
if (location.hash || location.search) history.replaceState(null, "", location.pathname);

function tokenIn(text) {
  return text.slice(text.lastIndexOf("#") + 1).trim();
}

// What a person has chosen, kept by this browser; one that keeps nothing has the default.
function setting(key, otherwise) {
  try { return localStorage.getItem(`tally.${key}`) ?? otherwise; } catch { return otherwise; }
}

function keep(key, value) {
  try { localStorage.setItem(`tally.${key}`, value); } catch { /* it holds until the page is closed */ }
}

// The token is kept for as long as this window is open; on the device only where a person has said so.
function remember() {
  sessionStorage.setItem("tally.token", token);
  if (at("remember").checked) keep("token", token);
}

// Each run of the server has a token of its own: one that it refuses is of no more use.
function forget() {
  token = "";
  sessionStorage.removeItem("tally.token");
  try { localStorage.removeItem("tally.token"); } catch { /* nothing is kept there */ }
  at("remember").checked = false;
  sessions.clear();
  heard = "";
  draw();
  at("nothing").hidden = true;
  at("week").open = false;
}

async function ask(path, options) {
  const answer = await fetch(`api/v1/${path}`, { ...options, headers: { Authorization: `Bearer ${token}`, ...options?.headers } });
  const found = await answer.json();
  if (!answer.ok) throw new Error(typeof found.detail === "string" ? found.detail : `it failed (${answer.status})`);
  return found;
}

const act = (path, body) =>
  ask(path, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } });

document.onvisibilitychange = () => { for (const card of cards.values()) card.look(); };

// The order of every list: the oldest question first, of all else the youngest. What was put off stands below all that
// needs somebody.
function need(session) {
  const rank = ORDER.indexOf(session.status);
  return rank < NEEDS && session.snoozed_until > Date.now() / 1000 ? NEEDS - 0.5 : rank;
}

// The name of the group that a session belongs to.
function groupOf(session) {
  const by = at("group").value;
  if (by === "project") return session.project || "no project";
  if (by === "machine") return session.machine || "this machine";
  if (by === "terminal") return session.machine || terminal(session.host);
  return "";
}

// How a host is called: by its number only where there are several of its kind.
function terminal(host) {
  const kind = (one) => one.slice(0, one.lastIndexOf("-"));
  const called = HOSTS[kind(host)] ?? host;
  const like = new Set([...sessions.values()].map((session) => session.host).filter((one) => kind(one) === kind(host)));
  return like.size > 1 ? `${called} ${host.slice(host.lastIndexOf("-") + 1)}` : called;
}

// The section of a group, made if there is none.
function section(title) {
  if (!groups.has(title)) {
    const made = at("group-of").content.firstElementChild.cloneNode(true);
    const heading = made.querySelector("h2");
    put(heading, title || "Agents");
    heading.classList.toggle("unseen", !title);
    made.querySelector("ul").setAttribute("aria-label", title || "Agents");
    groups.set(title, made);
  }
  return groups.get(title);
}

// Put *node* at this place, if it is not there: moving takes the keyboard's focus away.
function place(list, node, index) {
  if (list.children[index] === node) return;
  const focused = node.contains(document.activeElement) ? document.activeElement : null;
  list.insertBefore(node, list.children[index] ?? null);
  focused?.focus({ preventScroll: true });
  movedAt = performance.now();
}

// How many there are, and of what needs somebody how many: signs and numbers, with words where there is room.
const WORDS = { waiting: "wait", error: "failed", working: "work" };
function count(sorted) {
  const counts = {};
  for (const session of sorted) counts[session.status] = (counts[session.status] ?? 0) + 1;
  const all = element("span", `${sorted.length} ${sorted.length === 1 ? "agent" : "agents"}`);
  const chips = Object.keys(MARKS).filter((status) => counts[status]).map((status) => {
    const chip = element("span", "", "chip");
    chip.dataset.status = status;
    chip.append(element("span", MARKS[status], "mark"), element("span", counts[status], "many"), element("span", WORDS[status] ?? status, "word"));
    return chip;
  });
  const said = [all, ...chips].map((chip) => chip.textContent).join();
  if (at("summary").dataset.said !== said) at("summary").replaceChildren(...[all, ...chips].flatMap((chip) => [chip, " "]));
  at("summary").dataset.said = said;
  document.title = counts.waiting ? `(${counts.waiting}) Tallylight` : "Tallylight";
}

// Whether all that was typed into the field stands in a session, in any order.
function isFound(session) {
  const { agent, project, host_title, what: about, question, message, topic } = session;
  const text = [name(session), agent, project, host_title, about, question, message, topic].join(" ").toLowerCase();
  return at("find").value.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

function draw() {
  const sorted = [...sessions.values()].sort((a, b) =>
    need(a) - need(b) || (a.status === "waiting" ? a.since - b.since : b.since - a.since) || (a.address < b.address ? -1 : 1));
  const full = (session) => [name(session), session.agent].filter(Boolean).join(" · ");
  const times = {};
  for (const session of sorted) times[full(session)] = (times[full(session)] ?? 0) + 1;
  for (const [address, card] of cards) if (!sessions.has(address)) { card.remove(); cards.delete(address); movedAt = performance.now(); }
  // A group stands where its neediest session would.
  const members = new Map();
  for (const session of sorted) members.set(groupOf(session), [...(members.get(groupOf(session)) ?? []), session]);
  let shown = 0;
  [...members].forEach(([title, found], index) => {
    const made = section(title);
    place(at("list"), made, index);
    const list = made.querySelector("ul");
    found.forEach((session, number) => {
      if (!cards.has(session.address)) cards.set(session.address, new Card(session.address));
      const card = cards.get(session.address);
      card.fill(session, times[full(session)] > 1 ? `${full(session)}, ${session.name}` : full(session));
      card.item.hidden = !isFound(session);
      shown += !card.item.hidden;
      place(list, card.item, number);
    });
    made.hidden = !list.querySelector(".card:not([hidden])");
  });
  for (const [title, made] of groups) if (!members.has(title)) { made.remove(); groups.delete(title); }
  count(sorted);
  put(at("found"), shown === sorted.length ? "" : shown ? `${shown} of ${sorted.length} agents` : "No agent matches.");
  at("nothing").hidden = sorted.length > 0;
  at("week").hidden = !heard;
  if (wanted) openWanted();
}

// A change of status is said once. Ages and screens are not: they would never be silent.
function tell(session) {
  const before = sessions.get(session.address);
  if (NEWS.has(session.status) && before?.status !== session.status) {
    put(at("news"), `${name(session)}: ${session.status}${session.what || session.question ? `. ${session.what || session.question}` : ""}`);
  }
}

function connect() {
  if (!token) { at("enter").hidden = false; put(at("summary"), "locked"); put(at("lost"), ""); return; }
  const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${location.pathname}api/v1/changes`,
    ["tally.v1", `tally.token.${token}`]);
  socket.onopen = () => { wait = 1; at("enter").hidden = true; put(at("lost"), ""); remember(); renew(); };
  socket.onmessage = (message) => {
    const event = JSON.parse(message.data);
    heard = clock(Date.now() / 1000);
    if (event.type === "state") {
      sessions.clear();
      for (const session of event.sessions) sessions.set(session.address, session);
      put(at("lost"), event.stale);
    } else if (event.type === "stale") {
      put(at("lost"), event.stale);
    } else if (event.type === "change") {
      tell(event.session);
      if (!NEWS.has(event.session.status)) calm(event.session.address);
      sessions.set(event.session.address, event.session);
    } else sessions.delete(event.address);
    draw();
  };
  socket.onclose = async () => {
    put(at("summary"), "not connected");
    put(at("lost"), `The server cannot be reached. The page keeps trying.${heard && sessions.size ? ` Last update: ${heard}.` : ""}`);
    const answer = await fetch("api/v1/counts", { headers: { Authorization: `Bearer ${token}` } }).catch(() => null);
    if (answer && answer.status === 401) {
      put(at("why"), "Your session has expired. Paste the new address.");
      forget();
      connect();
      return;
    }
    setTimeout(connect, wait * 1000);
    wait = Math.min(30, wait * 2);
  };
}

// Keys -------------------------------------------------------------------------------------------------------------

// The card that has the keyboard.
const current = () => cards.get(document.activeElement?.closest(".card")?.dataset.address);

function step(by) {
  const all = [...document.querySelectorAll(".card:not([hidden])")];
  const here = all.indexOf(current()?.item);
  const next = all[here < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, here + by))];
  next?.querySelector(".look").focus({ preventScroll: true });
  next?.scrollIntoView({ block: "nearest" });
}

// Show all agents again, and go to them.
function unfind() {
  at("find").value = "";
  draw();
  step(1);
}

function leave(event) {
  const card = current();
  if (event.target === at("find")) unfind();
  else if (event.target.matches(".text")) card.find(".look").focus();
  else if (card?.is_open) { card.find(".look").focus(); card.open(false); }
}

function regroup() {
  const found = at("group");
  found.selectedIndex = (found.selectedIndex + 1) % found.options.length;
  found.onchange();
}

const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  r: () => current()?.is_open && current().find(".text").focus(),
  g: regroup,
  "/": () => at("find").focus(),
  "?": () => at("help").showModal(),
};

document.onkeydown = (event) => {
  if (!at("keys").checked || event.ctrlKey || event.altKey || event.metaKey || event.isComposing || document.querySelector("dialog[open]")) return;
  if (event.key === "Escape") { leave(event); return; }
  if (event.target === at("find") && event.key === "Enter") { step(1); return; }
  // What is typed into a field is text.
  if (event.target.matches("input:not([type=checkbox]), textarea, select")) return;
  // A key that is held down is no answer.
  if (/^[1-9]$/.test(event.key)) { if (!event.repeat) current()?.choose(Number(event.key)); return; }
  const act = Object.hasOwn(KEYS, event.key) ? KEYS[event.key] : null;
  if (act) { event.preventDefault(); act(); }
};

// Lock: what was kept is forgotten, and what was shown is gone with the page.
at("forget").onclick = () => { forget(); location.reload(); };
at("find").oninput = draw;
at("help-open").onclick = () => at("help").showModal();
at("keys").checked = setting("keys", "on") === "on";
at("keys").onchange = () => keep("keys", at("keys").checked ? "on" : "off");
at("group").value = setting("group", "none");
if (at("group").selectedIndex < 0) at("group").selectedIndex = 0;
at("group").onchange = () => { keep("group", at("group").value); draw(); };
for (const [status, sign] of Object.entries(MARKS)) {
  const item = element("li", "");
  item.dataset.status = status;
  item.append(element("span", sign, "mark"), ` ${status}`);
  at("legend").append(item);
}

at("enter").onsubmit = (event) => { event.preventDefault(); token = tokenIn(at("token").value); at("token").value = ""; connect(); };
setInterval(() => { for (const card of cards.values()) put(card.find(".age"), age(card.session.since)); }, 1000);
// The shell is kept by an app that somebody has installed, and by no other window: a browser that merely looks in keeps nothing.
const keepShell = () => navigator.serviceWorker?.register("sw.js").catch(() => {});
const isApp = matchMedia("(display-mode: standalone)").matches;
if (isApp) keepShell();
addEventListener("appinstalled", keepShell);
connect();
