// The service worker of the installed page, and of one that gets messages. It keeps the shell, so that the page opens and says that the server cannot
// be reached, where there otherwise was an error of the browser. Nothing that needs the token ever passes through here:
// what is not the shell is left to the browser, and only these files, fetched without the token, are stored.
// The server writes two constants above: SHELL, the paths of these files, and VERSION, which says what is in them.

const PREFIX = "tally-shell-";
const CACHE = `${PREFIX}${VERSION}`;
const addresses = new Set(SHELL.map((path) => new URL(path, self.registration.scope).href));

self.oninstall = (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll([...addresses])));
  self.skipWaiting();
};

self.onactivate = (event) => {
  const clear = async () => {
    for (const name of await caches.keys()) if (name.startsWith(PREFIX) && name !== CACHE) await caches.delete(name);
    await self.clients.claim();
  };
  event.waitUntil(clear());
};

self.onfetch = (event) => {
  const { origin, pathname } = new URL(event.request.url);
  const address = `${origin}${pathname}`;
  if (event.request.method !== "GET" || !addresses.has(address)) return;
  // The server's own first: a page of another release would not understand it.
  event.respondWith(fetch(event.request).catch(async () => (await caches.match(address)) ?? Response.error()));
};

// A message: whose agent needs somebody. A browser wants something to be shown for each.
self.onpush = (event) => {
  let told = {};
  try { told = event.data.json(); } catch { /* what cannot be read is told all the same */ }
  const word = (name) => (typeof told?.[name] === "string" ? told[name] : "");
  const address = word("address");
  const options = { body: word("body"), icon: "icon-192.png", data: { address }, ...(address && { tag: address, renotify: true }) };
  event.waitUntil(self.registration.showNotification(word("title") || "An agent needs you", options));
};

// To the agent: in a window that is open, else in a new one.
self.onnotificationclick = (event) => {
  event.notification.close();
  const address = event.notification.data?.address ?? "";
  const go = async () => {
    for (const one of await self.clients.matchAll({ type: "window", includeUncontrolled: true })) {
      if (!one.url.startsWith(self.registration.scope)) continue;
      one.postMessage({ open: address });
      return one.focus();
    }
    return self.clients.openWindow(`./${address && `?open=${encodeURIComponent(address)}`}`);
  };
  event.waitUntil(go());
};
