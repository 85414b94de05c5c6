// Messages to this browser while the page is closed: asked for and ended in the dialog "Notifications". The worker that
// takes them is that of the installed page, and a page that asks for them keeps one, too.
"use strict";

// The agent that a message has led here for, until it is open.
let wanted = new URLSearchParams(location.search).get("open") ?? "";
let isSwitching = false;

// The worker of this page, if it keeps one.
const worker = async () => (await navigator.serviceWorker?.getRegistration("./")) ?? null;

// Why this browser takes no messages, in words; nothing if it does.
function whyNot() {
  if (!isSecureContext) return "Notifications need an encrypted address, https://…, or localhost. Put an HTTPS proxy in front of the server.";
  if (!("serviceWorker" in navigator && "PushManager" in window && "Notification" in window)) return "This browser takes no messages. On an iPhone or iPad, add the page to the Home Screen first and open it there.";
  if (Notification.permission === "denied") return "This browser blocks notifications of this page: allow them in its settings for this site.";
  return "";
}

function bytes(text) {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
}

const parts = ({ endpoint, keys }) => ({ endpoint, p256dh: keys.p256dh, auth: keys.auth });

// What the browser has asked for, if anything.
async function subscribed() {
  if (whyNot()) return null;
  return (await (await worker())?.pushManager.getSubscription()) ?? null;
}

// What stands in the dialog.
async function showPush() {
  const button = at("push-switch");
  let why = whyNot(), found = null;
  if (!why) {
    try {
      found = await subscribed();
      const offer = await ask("push");
      why = found ? "" : offer.why;
      put(at("push-devices"), offer.devices ? `Messages go to ${offer.devices === 1 ? "one browser" : `${offer.devices} browsers`}.` : "");
    } catch (error) { why = error.message; }
  }
  put(at("push-why"), why);
  button.hidden = Boolean(why);
  put(button, found ? "Stop messages to this browser" : "Send messages to this browser");
  button.dataset.on = Boolean(found);
}

async function switchOn() {
  const { key, why } = await ask("push");
  if (!key) throw new Error(why);
  await navigator.serviceWorker.register("sw.js");
  const { pushManager } = await navigator.serviceWorker.ready;
  // One that was made with another key is of no use any more.
  await (await pushManager.getSubscription())?.unsubscribe();
  const made = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytes(key) });
  try {
    await act("subscribe", parts(made.toJSON()));
  } catch (error) {
    await made.unsubscribe();
    throw error;
  }
}

async function switchOff() {
  const found = await subscribed();
  if (found) {
    await act("unsubscribe", { endpoint: found.endpoint });
    await found.unsubscribe();
  }
  // Of a page that is no app, nothing is kept any longer.
  if (!isApp) {
    await (await worker())?.unregister();
    for (const name of await caches.keys()) if (name.startsWith("tally-shell-")) await caches.delete(name);
  }
}

at("push-switch").onclick = async () => {
  if (isSwitching) return;
  isSwitching = true;
  at("push-switch").setAttribute("aria-busy", "true");
  put(at("push-problem"), "");
  try {
    await (at("push-switch").dataset.on === "true" ? switchOff() : switchOn());
  } catch (error) {
    put(at("push-problem"), Notification.permission === "denied" ? "" : `That did not work: ${error.message}`);
  }
  isSwitching = false;
  at("push-switch").removeAttribute("aria-busy");
  await showPush();
};

at("push-open").onclick = () => { put(at("push-problem"), ""); put(at("push-why"), ""); at("push-switch").hidden = true; at("push").showModal(); showPush(); };

// A server that has lost what it knew is told again.
async function renew() {
  try {
    const found = await subscribed();
    if (found) await act("subscribe", parts(found.toJSON()));
  } catch { /* the dialog says what is wrong */ }
}

// What no longer needs anybody is taken away.
async function calm(address) {
  try {
    for (const shown of (await (await worker())?.getNotifications({ tag: address })) ?? []) shown.close();
  } catch { /* a browser without notifications has none to take away */ }
}

// Open the agent of a message, once it is there.
function openWanted() {
  const card = cards.get(wanted);
  if (!card) return;
  wanted = "";
  card.open(true);
  card.find(".look").focus({ preventScroll: true });
}

navigator.serviceWorker?.addEventListener("message", ({ data }) => {
  if (typeof data?.open !== "string") return;
  wanted = data.open;
  openWanted();
});
