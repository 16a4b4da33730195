// The service worker: stores the app's files, so that the app opens offline. It leaves requests to /v1/ alone.
//
// A cache has all files of one version of the app. Which files there are and their digests are in /shell.js, which the server
// makes: as browsers compare imported scripts when they look for a new worker, any changed file makes a new one.

/** @type {any} */
const worker = self
const policy = worker.trustedTypes?.createPolicy("hesper", {createScriptURL: path => path})
worker.importScripts(policy?.createScriptURL("/shell.js") ?? "/shell.js")
const {version, files} = worker.shell
const CACHE = `hesper-${version}`

/** Fills the cache of this version. The browser's own cache is used first: the integrity tells whether that has the right file. */
const fillCache = async () => {
  const cache = await caches.open(CACHE)
  await Promise.all(Object.entries(files).map(async ([path, integrity]) => {
    const add = mode => cache.add(new Request(path, {integrity, cache: mode}))
    if (!await cache.match(path)) await add("force-cache").catch(() => add("reload"))
  }))
}

/** Deletes the caches of other versions. */
const cleanUp = async () => {
  for (const other of await caches.keys()) if (other !== CACHE) await caches.delete(other)
  await worker.clients.claim()
}

worker.addEventListener("install", event => event.waitUntil(fillCache()))
worker.addEventListener("activate", event => event.waitUntil(cleanUp()))
// A new version waits until the person agrees, or until no tab is open.
worker.addEventListener("message", ({data}) => data === "skipWaiting" && worker.skipWaiting())
worker.addEventListener("fetch", event => {
  const {request} = event
  const {origin, pathname: path} = new URL(request.url)
  // Like the server, shows the app at the path to which other apps share text.
  const pathname = request.mode === "navigate" && path === "/capture" ? "/" : path
  if (request.method !== "GET" || origin !== worker.origin || !Object.hasOwn(files, pathname)) return
  // The only page that is served from the cache is the app itself.
  if (request.mode === "navigate" && pathname !== "/") return
  event.respondWith(caches.match(pathname, {cacheName: CACHE}).then(stored => stored ?? fetch(request)))
})
