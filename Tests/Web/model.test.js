import assert from "node:assert/strict"
import {createHash, webcrypto} from "node:crypto"
import test from "node:test"
import {ClockSource, formatDate, makeClock, parseDate} from "../../Public/js/model/clock.js"
import {ZERO, emptyEntity, fold, foldDeleted, hashOf, membersOf, resolve, xor} from "../../Public/js/model/entity.js"
import {derivedID, hashOfFile, newID, randomID, sha1, sha256, utf8} from "../../Public/js/model/hash.js"

globalThis.crypto ??= webcrypto // not a global in Node 18
const NODE = "9f86d081884c7d65"
const clock = (minute, node = NODE) => `2026-11-21T08:${minute}:00.000Z-0000-${node}`

test("hashes equal those of Node for all lengths around a block", async () => {
  const bytes = Uint8Array.from({length: 400}, (_, i) => i * 7 % 256)
  for (let length = 0; length <= bytes.length; length++) {
    const part = bytes.subarray(0, length)
    assert.equal(sha256(part), createHash("sha256").update(part).digest("hex"))
    assert.equal(sha1(part), createHash("sha1").update(part).digest("hex"))
    assert.equal(await hashOfFile(part.slice().buffer), sha256(part))
  }
})

test("hashing is fast: 100 MB, and 5,000 objects", () => {
  const bytes = new Uint8Array(100e6).fill(3)
  let begin = process.cpuUsage()
  assert.equal(sha256(bytes), createHash("sha256").update(bytes).digest("hex"))
  // Usually 0.5 s and 40 ms of processor time. The limits allow busy machines, but no slow algorithm.
  const took = () => process.cpuUsage(begin).user / 1000 // ms
  assert.ok(took() < 8000, `${took()} ms`)
  const note = emptyEntity(newID(), "note")
  note.fixed.creationDate = "2026-11-21T08:40:00.000Z"
  for (const name of ["text", "archived", "sortDate", `tags.${newID()}`]) note.registers[name] = [true, clock(41)]
  begin = process.cpuUsage()
  for (let i = 0; i < 5000; i++) hashOf(note)
  assert.ok(took() < 4000, `${took()} ms`)
})

test("new IDs differ, and all IDs follow RFC 9562", () => {
  const begin = Date.now()
  for (const [make, version] of [[randomID, 4], [newID, 7]]) {
    const made = new Set(Array.from({length: 1000}, make))
    assert.equal(made.size, 1000)
    for (const id of made) assert.match(id, new RegExp(`^[\\da-f]{8}-[\\da-f]{4}-${version}[\\da-f]{3}-[89ab][\\da-f]{3}-[\\da-f]{12}$`))
  }
  const time = parseInt(newID().replace("-", "").slice(0, 12), 16)
  assert.ok(time >= begin && time <= Date.now(), `${time}`)
  const names = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
  assert.equal(derivedID(names, "www.example.com"), "2ed6657d-e927-568b-95e1-2665a8aea6a2")
})

test("a clock source corrects the wall clock's offset and keeps it", () => {
  const source = new ClockSource(NODE), wall = parseDate("2020-01-01T00:00:00.000Z") ?? 0
  source.learn("2026-11-21T08:47:12.345Z-0000-2c26b46b68ffc68f", wall)
  assert.equal(source.tick(wall + 5), `2026-11-21T08:47:12.350Z-0000-${NODE}`)
  assert.equal(formatDate(source.now(wall)), "2026-11-21T08:47:12.345Z")
  const again = new ClockSource(NODE, JSON.parse(JSON.stringify(source.saved)))
  assert.equal(again.tick(wall + 5), `2026-11-21T08:47:12.350Z-0001-${NODE}`)
  again.setBack()
  assert.equal(again.tick(wall), `2026-11-21T08:47:12.345Z-0001-${NODE}`)
  assert.throws(() => again.observe("nonsense"), RangeError)
  const last = "9999-12-31T23:59:59.999Z-ffff-ffffffffffffffff"
  again.observe(last)
  assert.equal(again.tick(wall), `9999-12-31T23:59:59.999Z-ffff-${NODE}`, "the greatest clock does not increase further")
})

test("a slow response does not change the offset of an exact wall clock", () => {
  const source = new ClockSource(NODE), sent = parseDate("2026-11-21T08:47:10.000Z") ?? 0
  const learn = (/** @type {number} */ server, /** @type {number} */ arrival, /** @type {number | undefined} */ start = undefined) =>
    source.learn(makeClock(server, 0, NODE), arrival, start)
  learn(sent + 5, sent + 3000, sent)
  assert.equal(source.saved.offset, 0, "the server read its clock at once, the response took 3 s")
  learn(sent + 2995, sent + 3000, sent)
  assert.equal(source.saved.offset, 0, "the request took 3 s")
  learn(sent + 3100, sent + 3000, sent)
  assert.equal(source.saved.offset, 100, "this device's clock is at least 100 ms behind")
  learn(sent + 3100, sent + 3000, sent + 2900)
  assert.equal(source.saved.offset, 100)
  learn(sent + 3100, sent + 3060, sent + 3040)
  assert.equal(source.saved.offset, 60, "at most 60 ms behind")
  learn(sent - 3_600_000, sent, sent - 20)
  assert.equal(source.saved.offset, -3_599_980, "the wall clock was set an hour ahead")
  learn(sent, sent - 50, sent + 3_600_000)
  assert.equal(source.saved.offset, 50, "it was set back during the request")
  learn(sent, sent + 9000)
  assert.equal(source.saved.offset, 50, "an event may be late")
  learn(sent, sent - 70)
  assert.equal(source.saved.offset, 70, "but the server read its clock before it arrived")
})

test("folding returns whether anything changed", () => {
  const one = emptyEntity("a", "note"), two = emptyEntity("a", "note")
  two.fixed.creationDate = "2026-11-21T08:40:00.000Z"
  two.registers.text = ["new", clock(42)]
  assert.equal(fold(one, two), true)
  assert.equal(fold(one, two), false)
  assert.equal(fold(one, {...two, registers: {text: ["older", clock(41)]}}), false)
  assert.equal(fold(one, {...two, fixed: {creationDate: "2026-11-21T08:39:00.000Z"}}), true)
  assert.equal(one.registers.text[0], "new")
  const gone = {uniqueID: "a", objectType: "tag"}
  assert.deepEqual(foldDeleted({...gone, mergedInto: "c"}, {...gone, mergedInto: "b"}), {...gone, mergedInto: "b"})
  assert.deepEqual(foldDeleted(gone, {...gone, mergedInto: "b"}), {...gone, mergedInto: "b"})
  assert.equal(xor(xor(ZERO, "f".repeat(32)), "0123456789abcdef".repeat(2)), "fedcba9876543210".repeat(2))
})

test("members follow merges, and cycles end", () => {
  const deleted = new Map([["a", "b"], ["b", "a"], ["c", "d"]].map(([uniqueID, mergedInto]) =>
    [uniqueID, {uniqueID, objectType: "tag", mergedInto}]))
  const isLive = id => id === "d" || id === "e"
  assert.equal(resolve("a", deleted, isLive), null)
  assert.equal(resolve("c", deleted, isLive), "d")
  const note = emptyEntity("n", "note")
  const given = {c: [false, clock(43)], d: [true, clock(42)], e: [true, clock(41)], x: [true, clock(40)]}
  for (const [id, register] of Object.entries(given)) note.registers[`tags.${id}`] = register
  assert.deepEqual(membersOf(note, "tags", deleted, isLive), ["e"])
  note.registers["tags.d"] = [true, clock(43)]
  assert.deepEqual(membersOf(note, "tags", deleted, isLive), ["e", "d"], "with equal clocks, the member is kept")
})

