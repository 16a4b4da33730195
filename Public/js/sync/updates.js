// The service worker: registering it, and going over to a new version of the app when the person agrees.

const HOUR = 3_600_000
const MINUTE = 60_000

/**
 * Registers the worker where there can be one, and looks for a new version each hour and when the page is seen again.
 * @param {(apply: () => void) => void} offer  a new version is ready; `apply` goes over to it
 * @param {() => void} reload  shows the page anew
 * @returns {() => void}  looks for a new version now
 */
export function keepUpToDate(offer, reload) {
  const container = globalThis.navigator.serviceWorker
  if (!container) return () => {}
  /** @type {ServiceWorkerRegistration | undefined} */
  let registration
  let looked = Date.now(), isApplying = false, isControlled = Boolean(container.controller)
  const offerWaiting = () => {
    // The first version of all needs nobody's consent.
    if (registration?.waiting && container.controller) offer(() => {
      isApplying = true
      if (registration?.waiting) registration.waiting.postMessage("skipWaiting")
      else reload()
    })
  }
  container.addEventListener("controllerchange", () => {
    if (isApplying) reload()
    // Another tab went over: this one still shows the version before.
    else if (isControlled) offer(reload)
    isControlled = true
  })
  container.register(workerURL(), {updateViaCache: "none"}).then(made => {
    registration = made
    offerWaiting()
    made.addEventListener("updatefound", () => made.installing?.addEventListener("statechange", offerWaiting))
  }).catch(() => {}) // Without a worker all works but opening without a network.
  const look = () => {
    if (Date.now() - looked < MINUTE) return
    looked = Date.now()
    registration?.update().catch(() => {}) // no network: next time
  }
  setInterval(look, HOUR)
  return look
}

/** The one place where text becomes the address of a script (Trusted Types). */
function workerURL() {
  const types = /** @type {any} */ (globalThis).trustedTypes
  const policy = types?.createPolicy("hesper", {createScriptURL: (/** @type {string} */ path) => path})
  return policy ? policy.createScriptURL("/sw.js") : "/sw.js"
}
