// Begins: opens the copy, starts the engine, builds the views.

import { Copy } from "./store/copy.js"
import { Engine } from "./sync/engine.js"
import { startShell } from "./ui/shell.js"

const copy = await Copy.open()
const engine = new Engine(copy)
startShell(copy, engine)
engine.start()
