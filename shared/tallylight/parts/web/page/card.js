// One session: its row, and while it is open its question, its screen and what a person may do to it. What is answered
// is what stands here: with every press goes the fingerprint of the screen that was shown, and the server looks again
// before it types.
"use strict";

const MARKS = { waiting: "!", error: "×", down: "▼", done: "✓", limited: "◷", quiet: "◇", background: "○", working: "●", idle: "·" };
// Milliseconds between two looks at an open screen; and how long a button must have stood where it is pressed.
const LOOK_MS = 1000, STEADY_MS = 700;
// When a card was last put to another place.
let movedAt = 0;
// The element with an id.
const at = (id) => document.getElementById(id);

function age(since) {
  const seconds = Math.max(0, Date.now() / 1000 - since);
  if (!since) return "";
  for (const [unit, length] of [["d", 86400], ["h", 3600], ["min", 60]]) if (seconds >= length) return `${Math.floor(seconds / length)} ${unit}`;
  return `${Math.floor(seconds)} s`;
}

// A time of the day, with the day if that is not within the next one.
function clock(time) {
  const day = time - Date.now() / 1000 < 86400 ? {} : { weekday: "short", day: "numeric", month: "short" };
  return new Date(time * 1000).toLocaleString([], { ...day, hour: "2-digit", minute: "2-digit" });
}

// Written only if it differs: a screen reader reads out every change of a text.
function put(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// How long a limit yet lasts, and until when; nothing where that is not known.
function limit(until) {
  const seconds = until - Date.now() / 1000, is_long = seconds > 86400;
  if (!(seconds > 0)) return "";
  const units = Math.ceil(seconds / (is_long ? 3600 : 60)), per = is_long ? 24 : 60, large = Math.floor(units / per), small = units % per;
  const left = is_long ? `${large} d ${small} h` : large ? `${large} h ${String(small).padStart(2, "0")}` : `${small} min`;
  return `limit: ${left}, until ${clock(until)}`;
}

// What waits to be typed into it, and until when, or why it is not typed; nothing for nothing.
function queued({ queued: text, queued_until: until, unsent, status }) {
  if (!text) return "";
  if (unsent) return `not sent, ${unsent}: ${text}`;
  const when = until && status !== "limited" ? "types after its next limit" : "queued";
  return `${until > Date.now() / 1000 ? `types at ${clock(until)}` : when}: ${text}`;
}

function element(name, text, kind = "") {
  return Object.assign(document.createElement(name), { textContent: text, className: kind });
}

// What a row is called: by the name that a person gave it, else its project. One of another machine says whose it is.
function name({ label, project, host_title: group, title, machine, name: number }) {
  const called = label.name || project || group || title || number;
  return machine && !called.startsWith(machine) ? `${machine}: ${called}` : called;
}

// An agent's advertisement for itself says nothing of its work.
const newsIn = (text) => (/^\W*tip:/i.test(text) ? "" : text);

// The one thing to know of it: what it asks, how it ended, or what it does.
function what(session) {
  const { status, what: about, question, message, reply, topic, last_prompt: prompt, limited_until: until } = session;
  const done = session.outcome || reply, does = [session.progress, session.doing].filter(Boolean).join(" · ");
  const said = { waiting: about || newsIn(question), done, working: does, background: does, idle: topic }[status] || newsIn(message) || topic || prompt;
  const more = ["waiting", "error"].includes(status) && !said.includes(session.doing) ? session.doing : "";
  const [asked] = others(session);
  return [queued(session), limit(until), unanswered(session), asked, said, more].filter(Boolean).join(" · ");
}

// How long its model has not answered; nothing if it has, or soon may.
function unanswered({ status, unanswered_since: since }) {
  return status === "working" && since ? `no answer from the model for ${age(since)}` : "";
}

// The branch, and what has changed there: `main +12 −3 2 new ↑1`.
function repository(beside) {
  if (!beside) return "";
  const { added, removed, new: files, ahead, behind } = beside.changes ?? {};
  const signed = (sign, count) => (count ? `${sign}${count}` : "");
  const changes = [signed("+", added), signed("−", removed), files ? `${files} new` : "", signed("↑", ahead), signed("↓", behind)];
  const worktree = beside.worktree && beside.worktree !== beside.branch ? `worktree ${beside.worktree}` : "";
  return [beside.is_detached ? `(${beside.branch})` : beside.branch, ...changes, worktree].filter(Boolean).join(" ");
}

function mark(session) {
  const also = session.collisions.some((one) => one.same) ? "≠" : "";
  if (session.status === "waiting" && session.kind === "question") return `?${also}`;
  return (MARKS[session.status] ?? "") + (session.status === "done" && session.kind === "question" ? "?" : also);
}

// Who else has changed its files, and the file that it asks to write.
function others({ collisions, status }) {
  const [asked] = status === "waiting" ? collisions.filter((one) => one.asked) : [];
  return [
    asked ? `${asked.name} changed this file${asked.at ? ` ${age(asked.at)} ago` : ""}` : "",
    ...collisions.map((one) => `also edited by ${one.name}: ${one.file} ${one.lines}${one.same ? "" : ", other lines"}`),
  ];
}

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
    this.screen = new Screen(this.find(".screen"));
    const view = this.find(".view");
    view.id = `view-${encodeURIComponent(address)}`;
    this.find(".look").setAttribute("aria-controls", view.id);
    this.find(".look").onclick = () => this.open(!this.is_open);
    this.find(".interrupt").onclick = () => this.do("interrupt", {});
    this.find(".say").onsubmit = (event) => { event.preventDefault(); this.say(); };
    this.find(".text").onkeydown = (event) => {
      // A key that ends a word of an input method is not one of ours.
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); this.say(); }
    };
    near.observe(this.item);
    grown.observe(this.item);
  }

  find(name) { return this.item.querySelector(name); }

  // What stands in the row, and what is known beside it.
  fill(session, who) {
    const { item } = this;
    this.session = session;
    item.dataset.status = session.status;
    put(this.find(".mark"), mark(session));
    put(this.find(".name"), name(session));
    put(this.find(".status"), session.kind ? `${session.status} (${session.kind})` : session.status);
    put(this.find(".age"), age(session.since));
    put(this.find(".agent"), session.agent);
    const said = what(session), [added, removed] = (session.status === "done" && session.diffstat) || [];
    put(this.find(".what"), said);
    put(this.find(".diff"), added || removed ? `+${added} −${removed}` : "");
    for (const key of ["question", "message", "topic"]) {
      const isSaid = said === session[key] || (key === "message" && [said, session.question].some((text) => text.includes(session.message)));
      put(this.find(`.${key}`), isSaid ? "" : newsIn(session[key]));
    }
    put(this.find(".facts"), [
      ...others(session), session.agent, session.host_title, repository(session.beside), session.mode, session.worktree, session.cwd, session.model,
      session.context === null ? "" : `context ${session.context}%`, ...session.children.map((child) => `${child.name} ${child.status}`),
    ].filter(Boolean).join(" · "));
    this.plan(session);
    if (who !== this.who) this.call(who);
    const does = this.is_open ? "Close" : session.status === "waiting" && session.can_type ? "Answer" : "Open";
    this.find(".look").setAttribute("aria-label", `${does}: ${who}`);
    // Of what cannot be looked at, nothing that was seen before stays.
    if (!session.can_see && this.seen) { this.show(NOTHING); this.seen = null; }
    this.find(".bare").hidden = session.can_see || session.tasks.length > 0 || Boolean(session.reply);
  }

  // What there is to do, how far it is, and what it said last.
  plan(session) {
    const [done, total] = session.progress.split("/").map(Number);
    const bar = this.find("progress");
    bar.hidden = !(total > 0);
    if (total > 0) { bar.max = total; bar.value = done; }
    const said = JSON.stringify([session.tasks, done]);
    if (said !== this.planned) {
      this.planned = said;
      this.find(".tasks").hidden = session.tasks.length === 0;
      this.find(".tasks ol").replaceChildren(...session.tasks.map((task, index) => {
        const state = !(total > 0) || index > done ? "to do" : index < done ? "done" : "now";
        const item = element("li", "");
        item.dataset.state = state;
        item.append(element("span", `${state}: `, "unseen"), task);
        return item;
      }));
    }
    put(this.find(".reply"), session.reply);
    this.find(".replied").hidden = !session.reply;
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
    this.is_new = is_open;
    if (is_open) this.item.scrollIntoView({ block: "nearest" });
    this.look();
  }

  // Look at the screen now, and go on looking while a person can see it.
  async look() {
    clearTimeout(this.timer);
    if (!this.is_open || !this.is_near || document.hidden || this.is_asking || !this.session.can_see) return;
    this.is_asking = true;
    try {
      const seen = await ask(`buffer?address=${encodeURIComponent(this.address)}`);
      if (this.is_open) this.show(seen);
      if (this.is_lost) { this.is_lost = false; put(this.find(".problem"), ""); }
    } catch (error) {
      this.is_lost = true;
      this.show(NOTHING);
      put(this.find(".problem"), error.message);
    } finally {
      this.is_asking = false;
      clearTimeout(this.timer);
      if (this.is_open) this.timer = setTimeout(() => this.look(), LOOK_MS);
    }
  }

  show(seen) {
    const before = this.seen?.question?.fingerprint;
    this.seen = seen;
    this.screen.show(seen.screen);
    this.find(".view").classList.toggle("wide", seen.screen.length > 0);
    put(this.find(".why"), seen.why);
    if (before !== seen.question?.fingerprint) {
      this.changedAt = performance.now();
      const is_here = this.find(".asked").contains(document.activeElement);
      this.offer(seen.question);
      if (seen.question && before !== undefined) put(this.find(".said"), [this.done, "The question has changed."].filter(Boolean).join(". "));
      if (!seen.question) put(this.find(".said"), this.done);
      this.done = "";
      // The keyboard stays where it was, but on nothing that could be pressed unseen.
      if (is_here) (seen.question ? this.find(".context") : this.find(".look")).focus({ preventScroll: true });
    }
    const form = this.find(".say");
    const text = this.find(".text");
    // What somebody is writing is not taken away.
    form.hidden = !seen.can_say && !text.value;
    this.find(".send").disabled = !seen.can_say;
    text.placeholder = seen.can_say ? "Text for the agent" : "It takes no text now";
    this.find(".interrupt").hidden = !seen.can_interrupt;
    if (this.is_new && this.is_open) { this.is_new = false; this.reveal(); }
  }

  // Bring the question onto the person's screen, as much as fits there: from what was not shown yet, if it is longer. A
  // press that comes with it counts for nothing.
  reveal() {
    const asked = this.find(".asked"), [next] = this.unread;
    movedAt = performance.now();
    if (asked.hidden) this.item.scrollIntoView({ block: "nearest" });
    else if (next && asked.offsetHeight > innerHeight) next.scrollIntoView({ block: "start" });
    else asked.scrollIntoView({ block: "nearest" });
  }

  // The question as it stands on the screen, wrapped and whole, and a button for each choice. What was not on the
  // person's screen cannot be agreed to: the buttons wait until all of it was.
  offer(question) {
    this.find(".asked").hidden = !question;
    for (const part of this.unread) read.unobserve(part);
    const parts = question ? question.context.slice(question.first).flatMap((row, number) => pieces(number ? `\n${row}` : row)) : [];
    this.find(".context").replaceChildren(...parts);
    this.unread = new Set(parts);
    this.watch();
    put(this.find(".missing"), question?.missing ?? "");
    const buttons = (question && !question.missing ? question.choices : []).map((choice) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(element("span", `${choice.number}.`, "number"), ` ${choice.label}`);
      button.dataset.keys = choice.keys;
      button.dataset.number = choice.number;
      button.setAttribute("aria-label", `Answer ${choice.number}. ${choice.label}: ${this.who}`);
      button.onclick = () => (this.unread.size ? this.reveal() : this.do("answer", { fingerprint: question.fingerprint, choice: choice.number }, question));
      return button;
    });
    this.find(".choices").replaceChildren(...buttons);
    this.allow();
  }

  // Look which pieces of the question are on the person's screen.
  watch() {
    for (const part of this.unread) { read.unobserve(part); read.observe(part); }
  }

  // A piece of the question was on the person's screen.
  saw(part) {
    read.unobserve(part);
    this.unread.delete(part);
    if (this.unread.size === 0) this.allow();
  }

  allow() {
    put(this.find(".unread"), this.unread.size ? "Read the rest of the question first: an answer shows it." : "");
    for (const button of this.find(".choices").children) {
      button.disabled = !button.dataset.keys;
      button.setAttribute("aria-disabled", this.unread.size > 0);
    }
  }

  // Choose an answer by its key: the press of a button that is there, and no other way.
  choose(number) {
    if (this.is_open) this.find(`.choices button[data-number="${number}"]:enabled`)?.click();
  }

  say() {
    const field = this.find(".text");
    if (!field.value || this.find(".send").disabled) return;
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

// What is shown of a session that cannot be looked at.
const NOTHING = { screen: [], question: null, can_say: false, can_interrupt: false, why: "" };

// A row in pieces, none of which is taller than any screen.
function pieces(row) {
  return (row.match(/.{1,100}/gsu) ?? []).map((text) => element("span", text));
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

const read = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    // What stands behind a dialog is looked at again once that is closed.
    if (isIntersecting && !document.querySelector("dialog[open]")) cards.get(target.closest(".card")?.dataset.address)?.saw(target);
  }
}, { threshold: 0.9 });

// What is pressed while the page moves under the finger is not what was meant.
const grown = new ResizeObserver(() => { movedAt = performance.now(); });
