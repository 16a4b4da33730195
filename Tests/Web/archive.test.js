import assert from "node:assert/strict"
import {spawnSync} from "node:child_process"
import {mkdtempSync, rmSync, writeFileSync} from "node:fs"
import {createHash, webcrypto} from "node:crypto"
import {tmpdir} from "node:os"
import {join} from "node:path"
import test from "node:test"
import {exportAll} from "../../Public/js/archive/export.js"
import {ZipWriter} from "../../Public/js/archive/zip.js"
import {successorOf} from "../../Public/js/model/marks.js"
import {FakeCopy} from "./fake-copy.js"

globalThis.crypto ??= webcrypto // not a global in Node 18

const DATE = Date.parse("2026-11-21T08:47:12.000Z")
const NOTE = "5f0c5a1e-6d0b-4c8e-9d3a-2b7f4e1c8a90", TAG = "77c1f2e0-4d3b-4a8e-9b1a-0c5d6e7f8091"
const PICTURE = "c9a646d3-9c61-4cb7-bfcd-ee2522c8f633"

/** Reads a zip with Python's zipfile, and checks it with Info-ZIP if it is installed. */
const readWithPython = async blob => {
  const folder = mkdtempSync(join(tmpdir(), "hesper-zip-")), path = join(folder, "a.zip")
  try {
    writeFileSync(path, new Uint8Array(await blob.arrayBuffer()))
    const script = "import json, sys, zipfile\nz = zipfile.ZipFile(sys.argv[1])\nassert z.testzip() is None\n"
      + "print(json.dumps({i.filename: [z.read(i).hex(), list(i.date_time), i.compress_type, i.extra.hex()] for i in z.infolist()}))"
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

test("zips are read by other programs, with their dates in any time zone", async () => {
  const large = new Uint8Array(300_000).map((_, i) => i * i)
  const zip = await zipOf([["é/日本.md", "Milk\n"], ["empty.md", ""], ["large.bin", large]])
  const found = await readWithPython(zip)
  assert.deepEqual(Object.keys(found), ["é/日本.md", "empty.md", "large.bin"])
  assert.equal(found["large.bin"][0], Buffer.from(large).toString("hex"))
  assert.deepEqual(Object.values(found).map(([, , method]) => method), [0, 0, 0])
  for (const [, , , extra] of Object.values(found)) {
    const bytes = Buffer.from(extra, "hex")
    assert.deepEqual([bytes.length, bytes.readUInt16LE(0), bytes.readUInt16LE(2), bytes[4]], [9, 0x5455, 5, 1])
    assert.equal(bytes.readUInt32LE(5) * 1000, DATE)
  }
  assert.deepEqual(await readWithPython(await zipOf([])), {})
})

test("an export has the server's format", async () => {
  const copy = await filled()
  const {blob, name, notes, attachments, missing} = await exportAll(copy, {now: DATE})
  assert.deepEqual({name, notes, attachments, missing}, {name: "hesper-2026-11-21.zip", notes: 1, attachments: 1, missing: []})
  const found = await readWithPython(blob)
  assert.deepEqual(Object.keys(found), ["Été à Paris-Nord.md", "Attachments/Eiffel-tower-.PNG", "hesper.json"])
  const document = JSON.parse(Buffer.from(found["hesper.json"][0], "hex"))
  assert.deepEqual(document.files, {[NOTE]: "Été à Paris-Nord.md", [PICTURE]: "Attachments/Eiffel-tower-.PNG"})
  assert.deepEqual(document.notes[0].tags, [TAG])
  assert.match(document.digest, /^[0-9a-f]{32}$/)
})

test("pictures in texts become paths, and the data file has the marks", async () => {
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
    const document = JSON.parse(Buffer.from(found["hesper.json"][0], "hex").toString())
    return [path, Buffer.from(found[path][0], "hex").toString(), document.notes[0].text]
  }
  const [path, words, original] = await exported()
  assert.equal(path, "Paris.md")
  assert.equal(words, `Paris\n![a](Attachments/Eiffel-tower-.PNG "t") ![](attachment:${TAG}) ![](Attachments/again%20%282%29.png)`)
  assert.equal(original, text)
  await copy.edit("note", NOTE, "archived", true)
  const [archived, moved] = await exported()
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
})
