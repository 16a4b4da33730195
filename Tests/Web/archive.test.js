import assert from "node:assert/strict"
import {spawnSync} from "node:child_process"
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from "node:fs"
import {createHash, webcrypto} from "node:crypto"
import {tmpdir} from "node:os"
import {join} from "node:path"
import test from "node:test"
import {exportAll} from "../../Public/js/archive/export.js"
import {importFiles} from "../../Public/js/archive/import.js"
import {ZipWriter, listZip, readEntry} from "../../Public/js/archive/zip.js"
import {successorOf} from "../../Public/js/model/marks.js"
import {FakeCopy} from "./fake-copy.js"

globalThis.crypto ??= webcrypto // not a global in Node 18

const DATE = Date.parse("2026-11-21T08:47:12.000Z")
const NOTE = "5f0c5a1e-6d0b-4c8e-9d3a-2b7f4e1c8a90", TAG = "77c1f2e0-4d3b-4a8e-9b1a-0c5d6e7f8091"
const PICTURE = "c9a646d3-9c61-4cb7-bfcd-ee2522c8f633"

const file = (blob, name, {path = "", date = DATE} = {}) =>
  Object.assign(new Blob([blob]), {name, webkitRelativePath: path, lastModified: date})

/** Reads a zip with Python's zipfile, and checks it with Info-ZIP if it is installed. */
const readWithPython = async blob => {
  const folder = mkdtempSync(join(tmpdir(), "hesper-zip-")), path = join(folder, "a.zip")
  try {
    writeFileSync(path, new Uint8Array(await blob.arrayBuffer()))
    const script = "import json, sys, zipfile\nz = zipfile.ZipFile(sys.argv[1])\nassert z.testzip() is None\n"
      + "print(json.dumps({i.filename: [z.read(i).hex(), list(i.date_time), i.compress_type] for i in z.infolist()}))"
    const python = spawnSync("python3", ["-c", script, path], {encoding: "utf8", maxBuffer: 1 << 28})
    assert.equal(python.status, 0, python.stderr)
    const unzip = spawnSync("unzip", ["-tqq", path])
    if (!unzip.error && blob.size > 22) assert.equal(unzip.status, 0, String(unzip.stderr))
    return JSON.parse(python.stdout)
  } finally {
    rmSync(folder, {recursive: true})
  }
}

const zipOf = async files => {
  const zip = new ZipWriter()
  for (const [path, text] of files) await zip.add(path, new Blob([text]), DATE)
  return singlePart(zip.finish())
}

/** The same zip with these files deflated. The app reads deflated files but writes none. */
const deflate = async (blob, ...names) => {
  const folder = mkdtempSync(join(tmpdir(), "hesper-zip-")), paths = ["a.zip", "b.zip"].map(name => join(folder, name))
  try {
    writeFileSync(paths[0], new Uint8Array(await blob.arrayBuffer()))
    const script = "import sys, zipfile\na, b = zipfile.ZipFile(sys.argv[1]), zipfile.ZipFile(sys.argv[2], 'w')\n"
      + "for i in a.infolist(): b.writestr(i, a.read(i), zipfile.ZIP_DEFLATED if i.filename in sys.argv else None)\nb.close()"
    const python = spawnSync("python3", ["-c", script, ...paths, ...names], {encoding: "utf8"})
    assert.equal(python.status, 0, python.stderr)
    return new Blob([readFileSync(paths[1])])
  } finally {
    rmSync(folder, {recursive: true})
  }
}

/** A Blob of one part. Slices of Blobs of several parts are wrong in Node 18. */
const singlePart = async blob => new Blob([await blob.arrayBuffer()])

const add = (copy, type, uniqueID, fixed, values = {}) => copy.transaction([], "readwrite", async tx =>
  tx.put("made", {uniqueID, type, fixed})).then(async () => {
  for (const [attribute, value] of Object.entries(values)) await copy.edit(type, uniqueID, attribute, value)
})

/** A copy with a note that has a tag and a picture. */
const filled = async () => {
  const copy = new FakeCopy(), bytes = Buffer.from("not quite a picture")
  await add(copy, "tag", TAG, {}, {name: "Paris"})
  await add(copy, "attachment", PICTURE, {mimeType: "image/png", filename: "Eiffel: tower?.PNG", byteCount: bytes.length,
    sha256: createHash("sha256").update(bytes).digest("hex")})
  copy.stores.bytes = new Map([[PICTURE, {uniqueID: PICTURE, blob: new Blob([bytes])}]])
  await add(copy, "note", NOTE, {creationDate: "2026-11-21T08:40:00.000Z"}, {
    text: "# Été à Paris/Nord\nand more", [`tags.${TAG}`]: true, [`attachments.${PICTURE}`]: true, "attributes.pinned": true})
  return copy
}

const withoutIDs = copy => [...copy.entities()].map(({type, fixed, registers}) => ({type, fixed, registers}))
const imported = async (copy, blob, name = "a.zip") => importFiles(copy, [file(await blob.arrayBuffer(), name)])

test("zips are read by other programs, and theirs by the app", async () => {
  const large = new Uint8Array(300_000).map((_, i) => i * i)
  const files = [["é/日本.md", "Milk\n"], ["empty.md", ""], ["large.bin", large], ["stored.png", large]]
  const stored = await zipOf(files), zip = await deflate(stored, "large.bin", "empty.md")
  const found = await readWithPython(zip)
  assert.deepEqual(Object.values(await readWithPython(stored)).map(([bytes]) => bytes),
    Object.values(found).map(([bytes]) => bytes))
  assert.deepEqual(Object.keys(found), ["é/日本.md", "empty.md", "large.bin", "stored.png"])
  assert.equal(found["large.bin"][0], Buffer.from(large).toString("hex"))
  assert.deepEqual(Object.values(found).map(([, , method]) => method), [0, 8, 8, 0])
  const entries = await listZip(zip)
  assert.deepEqual(entries.map(({path, date}) => [path, date]), Object.keys(found).map(path => [path, DATE]))
  for (const entry of entries) {
    const bytes = Buffer.from(await (await readEntry(zip, entry)).arrayBuffer())
    assert.equal(bytes.toString("hex"), found[entry.path][0])
  }
  assert.deepEqual(await readWithPython(await zipOf([])), {})
})

test("broken and malicious zips are rejected", async () => {
  const zip = await deflate(await zipOf([["a.txt", "0".repeat(100_000)], ["b.txt", "stored"]]), "a.txt")
  const bytes = new Uint8Array(await zip.arrayBuffer())
  const refused = async (change, expected) => {
    const other = bytes.slice()
    change(other, new DataView(other.buffer))
    const blob = new Blob([other])
    await assert.rejects(async () => {
      for (const entry of await listZip(blob)) await readEntry(blob, entry)
    }, error => error.constructor.name === "ArchiveError" && expected.test(error.message))
  }
  const list = bytes.findIndex((_, i) => bytes[i] === 0x50 && bytes[i + 1] === 0x4b && bytes[i + 2] === 1)
  await refused(other => { other[60] ^= 1 }, /broken/) // a bit of the deflated content
  await refused(other => { other[list - 1] ^= 1 }, /broken/) // a bit of the stored content
  await refused((_, view) => view.setUint32(list + 24, 10, true), /broken/) // a size that is too small
  await refused((_, view) => view.setUint32(list + 24, 2 ** 31, true), /broken/)
  await refused((_, view) => view.setUint16(list + 8, 0x0801, true), /packed-otherwise/)
  await refused((_, view) => view.setUint16(list + 10, 93, true), /packed-otherwise/)
  await refused((_, view) => view.setUint32(list + 42, bytes.length, true), /broken/)
  await refused((_, view) => view.setUint32(bytes.length - 6, 5, true), /broken/)
  await assert.rejects(listZip(new Blob(["no zip at all"])), /broken/)
  await assert.rejects(listZip(new Blob([])), /broken/)
  for (let at = 0; at < bytes.length; at += 7) {
    const blob = new Blob([bytes.subarray(0, at)])
    await assert.rejects(listZip(blob), /broken/, `truncated at ${at}`)
  }
})

test("an export has the server's format, and importing it twice restores it once", async () => {
  const copy = await filled()
  const {blob, name, notes, attachments, missing} = await exportAll(copy, {now: DATE})
  assert.deepEqual({name, notes, attachments, missing}, {name: "hesper-2026-11-21.zip", notes: 1, attachments: 1, missing: []})
  const found = await readWithPython(blob)
  assert.deepEqual(Object.keys(found), ["Été à Paris-Nord.md", "Attachments/Eiffel-tower-.PNG", "hesper.json"])
  const document = JSON.parse(Buffer.from(found["hesper.json"][0], "hex"))
  assert.deepEqual(document.files, {[NOTE]: "Été à Paris-Nord.md", [PICTURE]: "Attachments/Eiffel-tower-.PNG"})
  assert.deepEqual(document.notes[0].tags, [TAG])
  assert.match(document.digest, /^[0-9a-f]{32}$/)

  const other = new FakeCopy()
  const report = await imported(other, blob)
  assert.deepEqual(report, {notes: 1, tags: 1, attachments: 1, objects: 0, changed: 0, unchanged: 0, deleted: 0, refused: [],
    skipped: 0})
  const ordered = one => withoutIDs(one).sort((a, b) => a.type < b.type ? -1 : 1)
  assert.deepEqual(ordered(other), ordered(copy), "the same registers under the same clocks")
  assert.equal(await (await other.bytes(PICTURE)).text(), "not quite a picture")
  assert.equal(other.stores.made.get(PICTURE).needsBytes, true)

  const again = await imported(other, blob)
  assert.deepEqual([again.notes, again.unchanged, again.tags, again.attachments], [0, 1, 0, 0])
  await other.edit("note", NOTE, "text", "written since")
  await imported(other, blob)
  assert.equal(other.entity(NOTE).registers.text[0], "written since", "later changes are kept")
  await other.transaction([], "readwrite", tx => tx.put("deleted", {uniqueID: NOTE, objectType: "note"}))
  assert.equal((await imported(other, blob)).deleted, 1)
  assert.equal(other.entity(NOTE), undefined, "deleted notes stay deleted")
})

test("pictures in texts become paths, and an import restores the marks", async () => {
  const copy = await filled()
  const deleted = "0f0c5a1e-6d0b-4c8e-9d3a-2b7f4e1c8a90"
  const again = successorOf(deleted, NOTE)
  await add(copy, "attachment", again, {mimeType: "image/png", filename: "again (2).png", byteCount: 0, sha256: "-"})
  const text = `Paris\n![a](attachment:${PICTURE} "t") ![](attachment:${TAG}) ![](attachment:${deleted})`
  await copy.edit("note", NOTE, "text", text)
  const exported = async () => {
    const {blob} = await exportAll(copy, {now: DATE})
    const found = await readWithPython(blob)
    const [path] = Object.keys(found)
    return [blob, path, Buffer.from(found[path][0], "hex").toString()]
  }
  const [blob, path, words] = await exported()
  assert.equal(path, "Paris.md")
  assert.equal(words, `Paris\n![a](Attachments/Eiffel-tower-.PNG "t") ![](attachment:${TAG}) ![](Attachments/again%20%282%29.png)`)
  const other = new FakeCopy()
  await imported(other, blob)
  assert.equal(other.note(NOTE).text, text)
  await copy.edit("note", NOTE, "archived", true)
  const [, archived, moved] = await exported()
  assert.equal(archived, "Archive/Paris.md")
  assert.match(moved, /!\[a\]\(\.\.\/Attachments\/Eiffel-tower-\.PNG "t"\)/)
})

test("an export reports missing files and numbers equal names", async () => {
  const copy = await filled()
  copy.stores.bytes.clear()
  for (let i = 0; i < 3; i++) {
    const id = `${i}f0c5a1e-6d0b-4c8e-9d3a-2b7f4e1c8a90`
    await add(copy, "note", id, {creationDate: "2026-11-21T08:41:00.000Z"}, {text: ["CON", "con", ""][i], archived: i === 2})
  }
  const {blob, missing} = await exportAll(copy, {now: DATE})
  assert.equal(missing.length, 1)
  const found = await readWithPython(blob)
  assert.deepEqual(Object.keys(found),
    ["Été à Paris-Nord.md", "CON_.md", "con_ 2.md", "Archive/Untitled.md", "hesper.json"])
  const report = await imported(new FakeCopy(), blob)
  assert.equal(report.notes, 4)
  assert.deepEqual(report.refused, [{path: `attachments ${PICTURE}`, reason: "bytes-missing"}])
})

test("invalid items of an export are rejected and the others imported", async () => {
  const note = (uniqueID, more) => ({uniqueID, creationDate: "2026-11-21T08:40:00.000Z", text: "t", archived: false, tags: [],
    attachments: [], attributes: {}, clocks: {text: "2026-11-21T08:40:00.000Z-0000-9f86d081884c7d65"}, ...more})
  const id = digit => `${digit}f0c5a1e-6d0b-4c8e-9d3a-2b7f4e1c8a90`
  const clock = "2026-11-21T08:41:00.000Z-0000-9f86d081884c7d65"
  const document = {format: "hesper-export", formatVersion: 1, files: {}, tags: [null, 7, {uniqueID: "../x", name: "n"}],
    attachments: [], objects: [], deletedObjects: [{uniqueID: id("d"), objectType: "tag", mergedInto: TAG}],
    notes: [note(id(1), {text: {}}), note("NOT-AN-ID"), note(id(2), {clocks: {text: "soon"}}), note(id(3), {creationDate: "x"}),
      note(id(4)), note(id(5), {tags: [id("d")], clocks: {tags: {[id("d")]: clock}}}),
      note(id(6), {clocks: {__proto__: null, "constructor": clock}})]}
  const copy = new FakeCopy()
  await add(copy, "tag", TAG, {}, {name: "Paris"})
  const report = await imported(copy, await zipOf([["folder/hesper.json", JSON.stringify(document)]]))
  assert.equal(report.notes, 2)
  assert.deepEqual(report.refused.map(({path}) => path.split(" ")[1]),
    ["undefined", "undefined", "../x", id(1), "NOT-AN-ID", id(2), id(3), id(6)])
  assert.deepEqual(copy.members(id(5), "tags"), [TAG], "a merged tag is replaced by the remaining one")
  const later = await zipOf([["hesper.json", JSON.stringify({...document, formatVersion: 2})]])
  assert.match((await imported(copy, later)).refused[0].reason, /not-as-exported/)
})

test("texts are imported like by hesper import, from folders, zips and single files", async () => {
  const copy = new FakeCopy()
  const zip = await zipOf([["Notes/Work/plan.md", "\ufeffPlan"], ["Notes/Work/work/to do.txt", "x"], ["Notes/photo.jpg", "…"],
    ["Notes/.hidden.md", "…"], ["__MACOSX/Notes/plan.md", "…"], ["Notes/empty.txt", ""], ["Notes/../out.md", "out"]])
  const report = await imported(copy, zip, "whatever.zip")
  assert.deepEqual({...report, refused: report.refused.map(({path}) => path)},
    {notes: 2, tags: 1, attachments: 0, objects: 0, changed: 0, unchanged: 0, deleted: 0, refused: [],
      skipped: 5})
  const plan = [...copy.entities()].find(({registers}) => registers.text?.[0] === "Plan")
  // IDs and clocks are derived from paths and texts, as in Sources/hesper/Import.
  assert.equal(plan.registers.text[1].slice(0, 24), "2026-11-21T08:47:12.000Z")
  assert.equal(plan.registers.text[1].slice(30), plan.uniqueID.slice(19).replace("-", ""))
  assert.equal(plan.fixed.creationDate, "2026-11-21T08:47:12.000Z")
  const tags = copy.tags().map(({name, count}) => [name, count])
  assert.deepEqual(tags, [["Work", 2]])

  const folder = [file("Plan", "plan.md", {path: "Notes/Work/plan.md"})]
  assert.equal((await importFiles(copy, folder)).unchanged, 1, "zips and folders give the same notes")
  const changed = [file("Plan B", "plan.md", {path: "Notes/Work/plan.md", date: DATE + 1000})]
  assert.equal((await importFiles(copy, changed)).unchanged, 1, "an unsent text is not replaced")

  const single = await importFiles(copy, [file("One", "a.txt"), file("Two", "a.txt"), file("One", "a.txt"), file("…", "b.png")])
  assert.deepEqual([single.notes, single.unchanged, single.skipped], [2, 1, 1])
  const bad = [file(Uint8Array.of(0xff, 0xfe), "bad.txt"), file("a\0b", "nul.txt"), file("é".repeat(1 << 20), "large.md"),
    file("no zip", "b.zip")]
  assert.deepEqual((await importFiles(copy, bad)).refused.map(({path}) => path), ["b.zip", "bad.txt", "nul.txt", "large.md"])
})
