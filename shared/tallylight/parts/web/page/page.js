// The page: a list of all sessions, live over the WebSocket, its groups and its keys.
// Text of programs goes into text nodes only.
"use strict";

const ORDER = ["waiting", "error", "down", "done", "limited", "quiet", "background", "working", "idle", "active"];
const NEEDS = 5;
// What is told to those who listen to the page: a change to one of these.
const NEWS = new Set(["waiting", "error", "down", "done", "limited"]);
const HOSTS = { kitty: "kitty", wezterm: "WezTerm", sessions: "detached sessions" };
const sessions = new Map();
const cards = new Map();
// The sections of the list, by the name of the group.
const groups = new Map();
let token = tokenIn(location.hash) || sessionStorage.getItem("tally.token") || "";
// Whether the server listens to what is shown to it: between two connections, another program may have its port.
let isOn = false;
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

// Whether that could be kept; otherwise it holds until the page is closed.
function keep(key, value) {
  try { localStorage.setItem(`tally.${key}`, value); } catch { return false; }
  return true;
}

const hex = (bytes) => [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const unhex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const utf8 = (text) => new TextEncoder().encode(text);
const device = () => setting("device", "");
// What is shown to the server: the token of its run, or the key of this device.
const shown = () => token || device();

// Whether the server at this address knows this device: by a hash of its key, before it is shown the key itself.
async function isOurs() {
  const [id, key] = device().split(".");
  const nonce = hex(crypto.getRandomValues(new Uint8Array(16)));
  const answer = await fetch(`proof?device=${encodeURIComponent(id)}&nonce=${nonce}`);
  if (!answer.ok) return false;
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const known = await crypto.subtle.importKey("raw", await crypto.subtle.digest("SHA-256", utf8(key)), algorithm, false, ["verify"]);
  return crypto.subtle.verify(algorithm, known, unhex((await answer.json()).proof), utf8(`${nonce} ${location.host}`));
}

// What a person calls this browser in a list of them.
function browserName() {
  const called = { FxiOS: "Firefox", Edg: "Edge", OPR: "Opera", SamsungBrowser: "Samsung Internet", CriOS: "Chrome", Macintosh: "Mac" };
  const found = (names) => names.filter((name) => navigator.userAgent.includes(name)).map((name) => called[name] ?? name)[0] ?? "";
  const browser = found(["Firefox", "FxiOS", "Edg", "OPR", "SamsungBrowser", "CriOS", "Chrome", "Safari"]);
  return [browser, found(["Android", "iPhone", "iPad", "Macintosh", "Windows", "CrOS", "Linux"])].filter(Boolean).join(", ");
}

// With the token, a browser that can tell its server from another is signed in and gets a key of its own. Where there is
// none, the token is kept for as long as this window is open.
async function signIn() {
  if (token) {
    sessionStorage.setItem("tally.token", token);
    // A key that this browser could not keep would only take the place of another.
    const canKeep = Boolean(crypto.subtle) && keep("device", device());
    const known = canKeep && device() && (await isOurs());
    try {
      if (canKeep && !known) keep("device", (await act("device", { name: browserName() })).key);
    } catch { return; }
  }
  if (!device()) return;
  token = "";
  sessionStorage.removeItem("tally.token");
}

// What this page has shown is gone from it.
function forget() {
  token = "";
  isOn = false;
  sessionStorage.removeItem("tally.token");
  sessions.clear();
  heard = "";
  draw();
  at("nothing").hidden = true;
}

async function ask(path, options) {
  if (!token && !isOn) throw new Error("The server cannot be reached.");
  const answer = await fetch(`api/v1/${path}`, { ...options, headers: { Authorization: `Bearer ${shown()}`, ...options?.headers } });
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
  if (by === "agent") return session.agent || "no agent";
  if (by === "session") return alike(session) > 1 ? `${session.agent} session ${session.session.slice(0, 8)}` : "one pane each";
  if (by === "terminal") return session.machine || terminal(session.host);
  return "";
}

// What tells the conversation of a session from all others, and how many panes show that.
const conversation = ({ machine, agent, session, address }) => JSON.stringify(session ? [machine, agent, session] : [address]);
const alike = (one) => [...sessions.values()].filter((other) => conversation(other) === conversation(one)).length;

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
  const all = element("span", `${sorted.length} ${sorted.length === 1 ? "agent" : "agents"} `);
  const chips = Object.keys(MARKS).filter((status) => counts[status]).map((status) => {
    const chip = element("span", "", "chip");
    chip.dataset.status = status;
    chip.append(element("span", MARKS[status], "mark"), element("span", `${counts[status]} `, "many"), element("span", `${WORDS[status] ?? status} `, "word"));
    chip.firstChild.setAttribute("aria-hidden", "true");
    return chip;
  });
  const said = [all, ...chips].map((chip) => chip.textContent).join("");
  if (at("summary").textContent !== said) at("summary").replaceChildren(all, ...chips);
  document.title = counts.waiting ? `(${counts.waiting}) Tallylight` : "Tallylight";
}

// Whether all that was typed into the field stands in a session, in any order.
function isFound(session) {
  const { agent, project, host_title, what: about, question, message, topic } = session;
  const text = [name(session), agent, project, host_title, about, question, message, topic].join(" ").toLowerCase();
  return at("find").value.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

function draw() {
  const ordered = [...sessions.values()].sort((a, b) =>
    need(a) - need(b) || (a.status === "waiting" ? a.since - b.since : b.since - a.since) || (a.address < b.address ? -1 : 1));
  // The panes of one conversation stand where the neediest of them would.
  const places = [...new Set(ordered.map(conversation))];
  const sorted = ordered.sort((a, b) => places.indexOf(conversation(a)) - places.indexOf(conversation(b)));
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
  if (wanted) openWanted();
}

// A change of status is said once. Ages and screens are not: they would never be silent.
function tell(session) {
  const before = sessions.get(session.address);
  if (NEWS.has(session.status) && before?.status !== session.status) {
    put(at("news"), `${name(session)}: ${session.status}${session.what || session.question ? `. ${session.what || session.question}` : ""}`);
  }
}

// Nothing is shown until somebody signs this browser in.
function lock(why) {
  forget();
  put(at("why"), why);
  at("enter").hidden = false;
  put(at("summary"), "locked");
  put(at("lost"), "");
}

function later() {
  setTimeout(connect, wait * 1000);
  wait = Math.min(30, wait * 2);
}

function tellLost() {
  put(at("summary"), "not connected");
  put(at("lost"), `The server cannot be reached. The page keeps trying.${heard && sessions.size ? ` Last update: ${heard}.` : ""}`);
}

async function connect() {
  if (!shown()) { lock(""); return; }
  try {
    await signIn();
    if (!token && !(await isOurs())) { lock("This browser is not signed in here. Paste the address that tally serve printed."); return; }
  } catch {
    tellLost();
    later();
    return;
  }
  const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${location.pathname}api/v1/changes`,
    ["tally.v1", `tally.token.${shown()}`]);
  socket.onopen = () => { isOn = true; wait = 1; at("enter").hidden = true; put(at("lost"), ""); renew(); };
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
    isOn = false;
    tellLost();
    // Each run of the server has a token of its own: one that it refuses is of no more use.
    const answer = token && (await fetch("api/v1/counts", { headers: { Authorization: `Bearer ${token}` } }).catch(() => null));
    if (answer?.status === 401) {
      lock("Your session has expired. Paste the new address.");
      if (device()) connect();
    } else later();
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

// Lock: this browser is signed out, and what was shown is gone with the page.
at("forget").onclick = async () => {
  await ask("device", { method: "DELETE" }).catch(() => {});
  forget();
  try { localStorage.removeItem("tally.device"); } catch { /* nothing is kept there */ }
  location.reload();
};
at("find").oninput = draw;
for (const dialog of document.querySelectorAll("dialog")) dialog.onclose = () => { for (const card of cards.values()) card.watch(); };
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
setInterval(() => {
  for (const card of cards.values()) {
    put(card.find(".age"), age(card.session.since));
    if (card.session.status === "limited" || card.session.queued) put(card.find(".what"), what(card.session));
  }
}, 1000);
// The shell is kept by an app that somebody has installed, and by no other window: a browser that merely looks in keeps nothing.
const keepShell = () => navigator.serviceWorker?.register("sw.js").catch(() => {});
const isApp = matchMedia("(display-mode: standalone)").matches;
if (isApp) keepShell();
addEventListener("appinstalled", keepShell);
connect();
