// Imports files like the browser and exports the result: `node Tests/Web/repack.js OUT.zip FILE-OR-FOLDER`.
// Prints the report of the import. Tests of the command use it to compare imports and exports of browser and server.
import {readFileSync, readdirSync, statSync, writeFileSync} from "node:fs"
import {basename, dirname, join, relative} from "node:path"
import {webcrypto} from "node:crypto"
import {exportAll} from "../../Public/js/archive/export.js"
import {importFiles} from "../../Public/js/archive/import.js"
import {FakeCopy} from "./fake-copy.js"

globalThis.crypto ??= webcrypto // not a global in Node 18

const [, , out, source] = process.argv

const filesIn = path => statSync(path).isDirectory()
  ? readdirSync(path).sort().flatMap(name => filesIn(join(path, name))) : [path]

const files = filesIn(source).map(path => Object.assign(new Blob([readFileSync(path)]), {
  name: basename(path), lastModified: Math.floor(statSync(path).mtimeMs),
  webkitRelativePath: path === source ? "" : relative(dirname(source), path),
}))
const copy = new FakeCopy()
console.log(JSON.stringify(await importFiles(copy, files)))
const {blob, missing} = await exportAll(copy)
if (missing.length) throw new Error(missing.join("\n"))
writeFileSync(out, new Uint8Array(await blob.arrayBuffer()))
