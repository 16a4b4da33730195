// The service worker: the files of the app for when there is no network. It never touches /v1/: data is the app's own.

/** @type {any} */
const worker = self
const policy = worker.trustedTypes?.createPolicy("hesper", {createScriptURL: path => path})
// What the server says of its files: the version of them all, and the integrity of each by its path.
worker.importScripts(policy?.createScriptURL("/shell.js") ?? "/shell.js")
const {version, files} = worker.shell, CACHE = `hesper-${version}`

/** What the page has just fetched is not fetched again; what is of another version is. */
const fetched = async path => {
  const integrity = files[path]
  const asked = cache => fetch(path, {integrity, cache})
  const answer = await asked("force-cache").catch(() => asked("reload"))
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`)
  return answer
}

/** All files, or none: the version before stays in use if one cannot be had. */
const keep = async () => {
  const cache = await caches.open(CACHE)
  await Promise.all(Object.keys(files).map(async path => {
    if (!await cache.match(path)) await cache.put(path, await fetched(path))
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
  // Of pages only that of the app: the server has others. The browser may have thrown the cache away.
  if (request.mode === "navigate" && pathname !== "/") return
  event.respondWith(caches.match(pathname, {cacheName: CACHE}).then(kept => kept ?? fetch(request)))
})
