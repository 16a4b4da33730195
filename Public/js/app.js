// Begins: opens the copy, starts the engine, builds the views.

import { Copy } from "./store/copy.js"
import { Engine } from "./sync/engine.js"
import { keepUpToDate } from "./sync/remote.js"
import { offerUpdate } from "./ui/history.js"
import { startShell } from "./ui/shell.js"

export const copy = await Copy.open()
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
