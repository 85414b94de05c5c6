// The page: a list of all sessions, live over the WebSocket, and what a person may do to each.
// Text of programs goes into text nodes only. What is answered is what stands here: with every press goes the
// fingerprint of the screen that was shown, and the server looks again before it types.
"use strict";

const MARKS = { working: "●", background: "◌", done: "✓", error: "✗", down: "○", idle: "·" };
const ORDER = ["waiting", "error", "down", "done", "background", "working", "idle", "active"];
const NEEDS = 4;
// What is told to those who listen to the page: a change to one of these.
const NEWS = new Set(["waiting", "error", "down", "done"]);
// Milliseconds between two looks at an open screen; and how long a button must have stood where it is pressed.
const LOOK_MS = 1000, STEADY_MS = 700;
const sessions = new Map();
const cards = new Map();
const at = (id) => document.getElementById(id);
let token = tokenIn(location.hash) || sessionStorage.getItem("tally.token") || "";
let wait = 1;
// When a card was last put to another place.
let movedAt = 0;

// The token is in no history entry and no bookmark.
if (location.hash) history.replaceState(null, "", location.pathname);

function tokenIn(text) {
  return text.slice(text.lastIndexOf("#") + 1).trim();
}

function age(since) {
  const seconds = Math.max(0, Date.now() / 1000 - since);
  if (!since) return "";
  if (seconds < 60) return `${Math.floor(seconds)}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  return `${Math.floor(seconds / 3600)}h`;
}

function clock(time) {
  return new Date(time * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}

// Written only if it differs: a screen reader reads out every change of a text.
function put(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

async function ask(path, options) {
  const answer = await fetch(`api/v1/${path}`, { ...options, headers: { Authorization: `Bearer ${token}`, ...options?.headers } });
  const found = await answer.json();
  if (!answer.ok) throw new Error(typeof found.detail === "string" ? found.detail : `it failed (${answer.status})`);
  return found;
}

const act = (path, body) =>
  ask(path, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } });

// One session: its row, and while it is open its screen.
class Card {
  constructor(address) {
    this.address = address;
    this.item = at("session").content.firstElementChild.cloneNode(true);
    this.item.dataset.address = address;
    this.is_open = this.is_near = this.is_asking = this.is_busy = false;
    this.seen = null;
    // What was done last, until something else is asked.
    this.done = "";
    this.timer = 0;
    // The pieces of the question that were not on the person's screen yet.
    this.unread = new Set();
    // When other choices were last put here.
    this.changedAt = 0;
    const view = this.find(".view");
    view.id = `view-${encodeURIComponent(address)}`;
    this.find(".look").setAttribute("aria-controls", view.id);
    this.find(".look").onclick = () => this.open(!this.is_open);
    this.find(".interrupt").onclick = () => this.do("interrupt", {});
    this.find(".say").onsubmit = (event) => { event.preventDefault(); this.say(); };
    near.observe(this.item);
    grown.observe(this.item);
  }

  find(name) { return this.item.querySelector(name); }

  // What stands in the row.
  fill(session, who) {
    const { item } = this;
    this.session = session;
    item.dataset.status = session.status;
    put(this.find(".mark"), session.status === "waiting" ? (session.kind === "permission" ? "!" : "?") : (MARKS[session.status] || "") + (session.status === "done" && session.kind === "question" ? "?" : ""));
    put(this.find(".name"), name(session));
    put(this.find(".status"), session.kind ? `${session.status} (${session.kind})` : session.status);
    put(this.find(".age"), age(session.since));
    put(this.find(".what"), session.what);
    put(this.find(".question"), session.question);
    put(this.find(".message"), session.message === session.question ? "" : session.message);
    put(this.find(".topic"), session.topic);
    put(this.find(".doing"), [session.progress, session.doing, session.mode, session.worktree].filter(Boolean).join(" · "));
    const full = session.context === null ? "" : `context ${session.context}%`;
    put(this.find(".limit"), session.limited_until * 1000 > Date.now() ? `limited until ${clock(session.limited_until)}` : "");
    put(this.find(".model"), session.model);
    put(this.find(".full"), full);
    this.find(".full").classList.toggle("nearly", session.context >= 80);
    put(this.find(".children"), session.children.map((child) => `${child.name} ${child.status}`).join(", "));
    put(this.find(".reply"), session.reply);
    const [done, total] = session.progress.split("/").map(Number);
    const bar = this.find("progress");
    bar.hidden = !(total > 0);
    if (total > 0) { bar.max = total; bar.value = done; }
    if (who !== this.who) this.call(who);
    const look = this.find(".look");
    look.hidden = !session.can_type;
    put(look, this.is_open ? "Close" : session.status === "waiting" ? "Answer …" : "Screen …");
    look.setAttribute("aria-label", `${look.textContent.replace(" …", "")}: ${who}`);
    if (!session.can_type) this.open(false);
  }

  // Every field and button says whose it is.
  call(who) {
    this.who = who;
    const names = {
      progress: "Progress", ".screen": "Screen", ".context": "Question", ".choices": "Answers", ".text": "Text", ".press": "Press Enter after the text",
      ".send": "Send the text", ".interrupt": "Interrupt",
    };
    for (const [found, what] of Object.entries(names)) this.find(found).setAttribute("aria-label", `${what}: ${who}`);
    this.offer(this.seen?.question ?? null);
  }

  open(is_open) {
    if (this.is_open === is_open) return;
    this.is_open = is_open;
    this.find(".view").hidden = !is_open;
    this.find(".look").setAttribute("aria-expanded", is_open);
    for (const name of [".said", ".problem"]) put(this.find(name), "");
    if (this.session) this.fill(this.session, this.who);
    this.look();
  }

  // Look at the screen now, and go on looking while a person can see it.
  async look() {
    clearTimeout(this.timer);
    if (!this.is_open || !this.is_near || document.hidden || this.is_asking) return;
    this.is_asking = true;
    try {
      const seen = await ask(`buffer?address=${encodeURIComponent(this.address)}`);
      if (this.is_open) this.show(seen);
      if (this.is_lost) { this.is_lost = false; put(this.find(".problem"), ""); }
    } catch (error) {
      this.is_lost = true;
      this.show({ lines: [], question: null, can_say: false, can_interrupt: false, why: "" });
      put(this.find(".problem"), error.message);
    } finally {
      this.is_asking = false;
      clearTimeout(this.timer);
      if (this.is_open) this.timer = setTimeout(() => this.look(), LOOK_MS);
    }
  }

  show(seen) {
    const screen = this.find(".screen");
    const before = this.seen?.question?.fingerprint;
    this.seen = seen;
    const is_at_end = screen.scrollTop + screen.clientHeight >= screen.scrollHeight - 4;
    screen.hidden = seen.lines.length === 0;
    put(screen, seen.lines.join("\n"));
    if (is_at_end) screen.scrollTop = screen.scrollHeight;
    put(this.find(".why"), seen.why);
    if (before !== seen.question?.fingerprint) {
      this.changedAt = performance.now();
      const is_here = this.find(".asked").contains(document.activeElement);
      this.offer(seen.question);
      if (seen.question && before !== undefined) put(this.find(".said"), [this.done, "The question has changed."].filter(Boolean).join(". "));
      if (!seen.question) put(this.find(".said"), this.done);
      this.done = "";
      // The keyboard stays where it was, but on nothing that could be pressed unseen.
      if (is_here) (seen.question ? this.find(".context") : screen).focus({ preventScroll: true });
    }
    const form = this.find(".say");
    const text = this.find(".text");
    // What somebody is writing is not taken away.
    form.hidden = !seen.can_say && !text.value;
    this.find(".send").disabled = !seen.can_say;
    text.placeholder = seen.can_say ? "Text for the agent" : "It takes no text now";
    this.find(".interrupt").hidden = !seen.can_interrupt;
  }

  // The question as it stands on the screen, wrapped and whole, and a button for each choice. What was not on the
  // person's screen cannot be agreed to: the buttons wait until all of it was.
  offer(question) {
    this.find(".asked").hidden = !question;
    for (const part of this.unread) read.unobserve(part);
    const parts = question ? question.context.slice(question.first).flatMap((row, number) => pieces(number ? `\n${row}` : row)) : [];
    this.find(".context").replaceChildren(...parts);
    this.unread = new Set(parts);
    for (const part of parts) read.observe(part);
    const buttons = (question?.choices ?? []).map((choice) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = `${choice.number}. ${choice.label}`;
      button.dataset.keys = choice.keys;
      button.setAttribute("aria-label", `Answer ${choice.number}. ${choice.label}: ${this.who}`);
      button.onclick = () => this.do("answer", { fingerprint: question.fingerprint, choice: choice.number }, question);
      return button;
    });
    this.find(".choices").replaceChildren(...buttons);
    this.allow();
  }

  // A piece of the question was on the person's screen.
  saw(part) {
    read.unobserve(part);
    this.unread.delete(part);
    if (this.unread.size === 0) this.allow();
  }

  allow() {
    put(this.find(".unread"), this.unread.size ? "Scroll through all of the question to answer it." : "");
    for (const button of this.find(".choices").children) button.disabled = this.unread.size > 0 || !button.dataset.keys;
  }

  say() {
    const field = this.find(".text");
    if (!field.value) return;
    const text = field.value;
    const fingerprint = this.seen?.question?.fingerprint ?? "";
    this.do("text", { text, enter: this.find(".press").checked, fingerprint }, this.seen, () => { if (field.value === text) field.value = ""; });
  }

  // Have something done, to the process that was shown; then look what has become of it.
  async do(what, body, shown = this.seen, done = () => {}) {
    if (this.is_busy || !shown) return;
    const problem = this.find(".problem");
    put(problem, "");
    if (performance.now() - Math.max(this.changedAt, movedAt) < STEADY_MS) {
      put(problem, "This has changed just now, and nothing was sent: look, and press again.");
      return;
    }
    this.is_busy = true;
    this.item.setAttribute("aria-busy", "true");
    try {
      const { pid, start } = shown;
      const found = await act(what, { address: this.address, pid, start, ...body });
      this.done = found.done;
      put(this.find(".said"), found.done);
      done();
    } catch (error) {
      this.done = "";
      put(this.find(".said"), "");
      put(problem, error.message);
    } finally {
      this.is_busy = false;
      this.item.removeAttribute("aria-busy");
      this.look();
    }
  }

  remove() {
    clearTimeout(this.timer);
    this.is_open = false;
    near.unobserve(this.item);
    grown.unobserve(this.item);
    this.item.remove();
  }
}

// Only what is on the person's screen is looked at.
const near = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    const card = cards.get(target.dataset.address);
    if (!card) continue;
    card.is_near = isIntersecting;
    card.look();
  }
});
// A row in pieces, none of which is taller than any screen.
function pieces(row) {
  return (row.match(/.{1,100}/gsu) ?? []).map((text) => Object.assign(document.createElement("span"), { textContent: text }));
}

const read = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (isIntersecting) cards.get(target.closest("li")?.dataset.address)?.saw(target);
  }
}, { threshold: 0.9 });

// What is pressed while the page moves under the finger is not what was meant.
const grown = new ResizeObserver(() => { movedAt = performance.now(); });
document.onvisibilitychange = () => { for (const card of cards.values()) card.look(); };

function name(session) {
  return [session.host_title || session.project || session.title || session.name, session.agent].filter(Boolean).join(" · ");
}

// The order of every list: the oldest question first, of all else the youngest. What was put off stands below all that
// needs somebody.
function need(session) {
  const rank = ORDER.indexOf(session.status);
  return rank < NEEDS && session.snoozed_until > Date.now() / 1000 ? NEEDS - 0.5 : rank;
}

function draw() {
  const sorted = [...sessions.values()].sort((a, b) =>
    need(a) - need(b) || (a.status === "waiting" ? a.since - b.since : b.since - a.since) || (a.address < b.address ? -1 : 1));
  const times = {};
  for (const session of sorted) times[name(session)] = (times[name(session)] ?? 0) + 1;
  for (const [address, card] of cards) if (!sessions.has(address)) { card.remove(); cards.delete(address); movedAt = performance.now(); }
  const list = at("list");
  sorted.forEach((session, index) => {
    if (!cards.has(session.address)) cards.set(session.address, new Card(session.address));
    const card = cards.get(session.address);
    card.fill(session, times[name(session)] > 1 ? `${name(session)}, ${session.name}` : name(session));
    // Moved only when out of place: moving takes the keyboard's focus away.
    if (list.children[index] !== card.item) { list.insertBefore(card.item, list.children[index] || null); movedAt = performance.now(); }
  });
  const waiting = sorted.filter((session) => session.status === "waiting").length;
  put(at("summary"), `${waiting} waiting, ${sorted.length} in all`);
  at("nothing").hidden = sorted.length > 0;
  document.title = waiting ? `(${waiting}) Tallylight` : "Tallylight";
}

// A change of status is said once. Ages and screens are not: they would never be silent.
function tell(session) {
  const before = sessions.get(session.address);
  if (NEWS.has(session.status) && before?.status !== session.status) {
    put(at("news"), `${name(session)}: ${session.status}${session.what || session.question ? `. ${session.what || session.question}` : ""}`);
  }
}

function connect() {
  if (!token) { at("enter").hidden = false; put(at("summary"), "locked"); return; }
  const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${location.pathname}api/v1/changes`,
    ["tally.v1", `tally.token.${token}`]);
  socket.onopen = () => { wait = 1; at("enter").hidden = true; sessionStorage.setItem("tally.token", token); };
  socket.onmessage = (message) => {
    const event = JSON.parse(message.data);
    if (event.type === "state") {
      sessions.clear();
      for (const session of event.sessions) sessions.set(session.address, session);
    } else if (event.type === "change") {
      tell(event.session);
      sessions.set(event.session.address, event.session);
    } else sessions.delete(event.address);
    draw();
  };
  socket.onclose = async () => {
    put(at("summary"), "not connected");
    const answer = await fetch("api/v1/counts", { headers: { Authorization: `Bearer ${token}` } }).catch(() => null);
    if (answer && answer.status === 401) {
      // Each run of the server has a token of its own.
      put(at("why"), "The one that you had is not, or no longer, the token of this server.");
      token = "";
      sessionStorage.removeItem("tally.token");
      sessions.clear();
      draw();
      at("nothing").hidden = true;
      connect();
      return;
    }
    setTimeout(connect, wait * 1000);
    wait = Math.min(30, wait * 2);
  };
}

at("enter").onsubmit = (event) => { event.preventDefault(); token = tokenIn(at("token").value); at("token").value = ""; connect(); };
setInterval(() => { for (const card of cards.values()) put(card.find(".age"), age(card.session.since)); }, 1000);
connect();
