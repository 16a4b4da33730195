// The service worker: the files of the app for when there is no network. It never touches /v1/: data is the app's own.

/**
 * What the server says of its files (`/shell.js`): the version of them all, and each with its integrity.
 * @typedef {{version: string, files: Object<string, string>}} Shell
 */
/** @type {any} */
const worker = self
// Text becomes the address of a script in this one place.
const policy = worker.trustedTypes?.createPolicy("hesper", {createScriptURL: (/** @type {string} */ path) => path})
worker.importScripts(policy ? policy.createScriptURL("/shell.js") : "/shell.js")

const {version, files} = /** @type {Shell} */ (worker.shell)
const NAME = "hesper-"
const CACHE = NAME + version

/**
 * A file of this version: what the page has just fetched is not fetched again, what is old or missing is.
 * @param {string} path
 */
async function fetched(path) {
  const integrity = files[path]
  const answer = await fetch(path, {integrity, cache: "force-cache"}).catch(() => fetch(path, {integrity, cache: "reload"}))
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`)
  return answer
}

/** All files, or none: the version before stays in use if one cannot be had. */
async function keep() {
  const cache = await caches.open(CACHE)
  await Promise.all(Object.keys(files).map(async path => {
    if (!await cache.match(path)) await cache.put(path, await fetched(path))
  }))
}

async function cleanUp() {
  for (const name of await caches.keys()) if (name.startsWith(NAME) && name !== CACHE) await caches.delete(name)
  await worker.clients.claim()
}

/** @param {Request} request @param {string} path */
async function answer(request, path) {
  const cache = await caches.open(CACHE)
  // The browser may have thrown the cache away.
  return await cache.match(path) ?? fetch(request)
}

worker.addEventListener("install", (/** @type {any} */ event) => event.waitUntil(keep()))
worker.addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(cleanUp()))
// A new version waits until the person agrees, or no tab is open.
worker.addEventListener("message", (/** @type {MessageEvent} */ event) => {
  if (event.data === "skipWaiting") worker.skipWaiting()
})
worker.addEventListener("fetch", (/** @type {any} */ event) => {
  const {request} = event
  const {origin, pathname} = new URL(request.url)
  if (request.method !== "GET" || origin !== worker.location.origin || !Object.hasOwn(files, pathname)) return
  // Of pages only that of the app: the server has others.
  if (request.mode !== "navigate" || pathname === "/") event.respondWith(answer(request, pathname))
})
