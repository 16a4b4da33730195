// Begins: opens the copy, starts the engine, builds the views.

import {Copy} from "./store/copy.js"
import {Engine} from "./sync/engine.js"
import {keepUpToDate} from "./sync/server.js"
import {problemView} from "./ui/dom.js"
import {startShell} from "./ui/shell.js"
import {offerUpdate} from "./ui/pages.js"

export const copy = await Copy.open().catch(error => {
  document.body.append(problemView(error, () => location.reload()))
  throw error
})
export const engine = new Engine(copy)
startShell(copy, engine)
engine.start()

const lookForUpdate = keepUpToDate(offerUpdate, () => location.reload())
const seen = () => {
  engine.visible(!document.hidden)
  if (!document.hidden) lookForUpdate()
}
document.addEventListener("visibilitychange", seen)
seen()
