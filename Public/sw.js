// The files of the app for when there is no network. It never touches /v1/.

/** @type {any} */
const worker = self
const policy = worker.trustedTypes?.createPolicy("hesper", {createScriptURL: path => path})
worker.importScripts(policy?.createScriptURL("/shell.js") ?? "/shell.js")
const {version, files} = worker.shell, CACHE = `hesper-${version}`

const keep = async () => {
  const cache = await caches.open(CACHE)
  await Promise.all(Object.entries(files).map(async ([path, integrity]) => {
    const take = from => cache.add(new Request(path, {integrity, cache: from}))
    if (!await cache.match(path)) await take("force-cache").catch(() => take("reload"))
  }))
}

const cleanUp = async () => {
  for (const other of await caches.keys()) if (other !== CACHE) await caches.delete(other)
  await worker.clients.claim()
}

worker.addEventListener("install", event => event.waitUntil(keep()))
worker.addEventListener("activate", event => event.waitUntil(cleanUp()))
// A new version waits until the person agrees, or no tab is open.
worker.addEventListener("message", ({data}) => data === "skipWaiting" && worker.skipWaiting())
worker.addEventListener("fetch", event => {
  const {request} = event, {origin, pathname} = new URL(request.url)
  if (request.method !== "GET" || origin !== worker.origin || !Object.hasOwn(files, pathname)) return
  // Of pages only that of the app.
  if (request.mode === "navigate" && pathname !== "/") return
  event.respondWith(caches.match(pathname, {cacheName: CACHE}).then(kept => kept ?? fetch(request)))
})
