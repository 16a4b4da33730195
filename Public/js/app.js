// The start of the app: opens the copy, builds the views, starts the engine. New versions of the app.

import {Copy} from "./store/copy.js"
import {Engine} from "./sync/engine.js"
import {problemView} from "./ui/dom.js"
import {startLanguage} from "./ui/language.js"
import {startShell} from "./ui/shell.js"
import {offerUpdate} from "./ui/status.js"

const MINUTE = 60_000 // ms
const HOUR = 60 * MINUTE

/**
 * Registers the service worker, and looks for a new version of the app each hour. Without a service worker everything works
 * except opening without a network.
 *
 * @param {(apply: () => void) => void} offer called when a new version is ready; `apply` starts it
 * @param {() => void} reload the page
 * @returns {() => void} looks for a new version now, at most once a minute
 */
const keepUpToDate = (offer, reload) => {
  const container = navigator.serviceWorker
  if (!container) return () => {}
  let registration
  let lastLook = Date.now()
  let {controller} = container
  const offerWaiting = () => {
    const {waiting} = registration
    // In Firefox, the first worker of a page can be its controller before the page learns that it is no longer waiting.
    if (waiting && container.controller && waiting !== container.controller) offer(() => {
      container.oncontrollerchange = reload
      waiting.postMessage("skipWaiting")
    })
  }
  container.oncontrollerchange = () => {
    // Not a new version: the first worker of a page, and the removal of the worker when the person signs out.
    if (controller && container.controller) offer(reload)
    controller = container.controller
  }
  const policy = globalThis.trustedTypes?.createPolicy("hesper", {createScriptURL: path => path})
  container.register(policy?.createScriptURL("/sw.js") ?? "/sw.js", {updateViaCache: "none"}).then(made => {
    registration = made
    offerWaiting()
    made.onupdatefound = () => made.installing?.addEventListener("statechange", offerWaiting)
  }, () => {})
  const look = () => {
    if (Date.now() - lastLook < MINUTE) return
    lastLook = Date.now()
    registration?.update().catch(() => {})
  }
  setInterval(look, HOUR)
  return look
}

const translated = startLanguage()
export const copy = await Copy.open().catch(async error => {
  await translated
  document.body.append(problemView(error, () => location.reload()))
  throw error
})
await translated
export const engine = new Engine(copy)
startShell(copy, engine)
engine.start()

const lookForUpdate = keepUpToDate(offerUpdate, () => location.reload())
const updateVisibility = () => {
  engine.visible(!document.hidden)
  if (!document.hidden) lookForUpdate()
}
document.addEventListener("visibilitychange", updateVisibility)
updateVisibility()
