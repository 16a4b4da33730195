// The service worker: registered in this one place; and going over to a new version of the app when the person agrees.

const HOUR = 3_600_000, MINUTE = 60_000

/**
 * Looks for a new version each hour, and when the function that it returns is called.
 * @param {(apply: () => void) => void} offer a new version is ready @param {() => void} reload
 */
export const keepUpToDate = (offer, reload) => {
  const container = navigator.serviceWorker
  if (!container) return () => {}
  let registration, looked = Date.now(), isApplying = false, isControlled = Boolean(container.controller)
  const offerWaiting = () => {
    const {waiting} = registration
    // The first version of all needs nobody's consent.
    if (waiting && container.controller) offer(() => {
      isApplying = true
      waiting.postMessage("skipWaiting")
    })
  }
  container.addEventListener("controllerchange", () => {
    if (isApplying) reload()
    // Another tab went over: this one still shows the version before.
    else if (isControlled) offer(reload)
    isControlled = true
  })
  const types = /** @type {any} */ (globalThis).trustedTypes
  const policy = types?.createPolicy("hesper", {createScriptURL: path => path})
  container.register(policy?.createScriptURL("/sw.js") ?? "/sw.js", {updateViaCache: "none"}).then(made => {
    registration = made
    offerWaiting()
    made.addEventListener("updatefound", () => made.installing?.addEventListener("statechange", offerWaiting))
  }, () => {}) // Without a worker all works but opening without a network.
  const look = () => {
    if (Date.now() - looked < MINUTE) return
    looked = Date.now()
    registration?.update().catch(() => {})
  }
  setInterval(look, HOUR)
  return look
}
