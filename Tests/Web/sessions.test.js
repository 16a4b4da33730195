import assert from "node:assert/strict"
import test from "node:test"
import {difference} from "../../Public/js/model/difference.js"
import {sessionsOf, textsOf, wordsChanged} from "../../Public/js/model/sessions.js"

const START = Date.parse("2026-11-24T09:00:00.000Z")
const SERVER = "5".repeat(16)

/** An edit of a device, so many minutes after the start. `pushed` is when it was pushed. */
const edit = (minutes, node, value, {attribute = "text", pushed = minutes, standing = false, by = ""} = {}) => {
  const [clock, pushedAt] = [minutes, pushed].map(at => new Date(START + at * 60_000).toISOString())
  return {attribute, value, clock: `${clock}-0000-${node}`, device: {uniqueID: node}, pushedAt, standing, ...by && {pushedBy: {uniqueID: by}}}
}
const shown = (...oldestFirst) => sessionsOf(oldestFirst.reverse(), SERVER).map(({devices, edits, before, text, merges}) =>
  `${devices.map(({uniqueID}) => uniqueID)}${merges.size ? " merged" : ""} ${edits.length}: ${before}>${text?.value}`)

test("sessions: a pause of more than ten minutes or another device begins a new one", () => {
  assert.deepEqual(shown(), [])
  assert.deepEqual(shown(edit(0, "a", "1"), edit(9, "a", "2"), edit(18, "a", "3"), edit(29, "a", "4"), edit(30, "b", "5")),
    ["b 1: 4>5", "a 1: 3>4", "a 3: >3"])
})

test("sessions: other attributes belong to the session of the text", () => {
  assert.deepEqual(shown(edit(0, "a", "1"), edit(1, "a", true, {attribute: "archived"}), edit(2, "a", "2"),
    edit(60, "a", true, {attribute: "attributes.pinned"})), ["a 1: 2>undefined", "a 3: >2"])
})

test("sessions: a merge belongs to the text that caused it, also if that was written offline long ago", () => {
  assert.deepEqual(shown(edit(0, "a", "1"), edit(90, "a", "a"), edit(60, "b", "b", {pushed: 120}), edit(120, SERVER, "ab", {by: "b"})),
    ["b merged 2: a>ab", "a 1: 1>a", "a 1: >1"])
})

test("sessions: two devices that write at the same time share a session", () => {
  assert.deepEqual(shown(edit(0, "a", "1"), edit(1, "b", "1b"), edit(1, SERVER, "1ab", {by: "b"}), edit(2, "a", "1abc"), edit(40, "b", "2")),
    ["b 1: 1abc>2", "a,b merged 4: >1abc"])
})

test("sessions: what was written before the two merged texts is a session of its own", () => {
  const edits = [edit(0, "b", "0"), edit(1, "a", "1"), edit(2, "a", "1a"), edit(3, "b", "1b"), edit(3, "a", "1ac"),
    edit(3, SERVER, "1bac", {by: "a"})]
  assert.deepEqual(shown(...edits), ["a,b merged 3: 1a>1bac", "a 2: 0>1a", "b 1: >0"])
  const own = [edit(1, "a", "1"), edit(2, "b", "1b"), edit(2, SERVER, "1ab", {by: "b"}), edit(3, "b", "1abc"), edit(3, "a", "1d"),
    edit(3, SERVER, "1dabc", {by: "a"})]
  const [session] = sessionsOf(own.reverse(), SERVER)
  assert.deepEqual(textsOf(session).map(({edit, before}) => `${before}>${edit.value}`),
    ["1d>1dabc", "1>1d", "1ab>1abc", "1b>1ab", ">1b", ">1"])
  const [merged] = sessionsOf(edits.reverse(), SERVER)
  assert.deepEqual(textsOf(merged).map(({edit, before}) => `${before}>${edit.value}`), ["1ac>1bac", "1a>1ac", "1a>1b"])
})

test("sessions: a text that the server restored is not a merge", () => {
  assert.deepEqual(shown(edit(0, "a", "1"), edit(0, SERVER, "2"), edit(1, SERVER, "3")), [`${SERVER} 2: 1>3`, "a 1: >1"])
})

test("sessions: the edits of plain requests are those of the device or token that sent them", () => {
  assert.deepEqual(shown(edit(0, "a", "1"), edit(0, SERVER, "2", {by: "t"}), edit(1, SERVER, "3", {by: "t"}), edit(2, SERVER, "4", {by: "u"})),
    ["u 1: 3>4", "t 2: 1>3", "a 1: >1"])
  // A device pushes what another one wrote, to a restored server.
  assert.deepEqual(shown(edit(0, "a", "1", {by: "b"}), edit(1, "b", "2")), ["b 1: 1>2", "a 1: >1"])
})

test("sessions: a merge was sent by the device whose text caused it", () => {
  assert.deepEqual(shown(edit(0, "a", "1"), edit(90, SERVER, "a", {by: "t"}), edit(60, "b", "b", {pushed: 120}), edit(120, SERVER, "ab", {by: "b"})),
    ["b merged 2: a>ab", "t 1: 1>a", "a 1: >1"])
})

test("sessions: texts that the server no longer has are skipped", () => {
  assert.deepEqual(shown(edit(0, "a", "1"), edit(20, "a"), edit(40, "a", "3"), edit(41, "a")),
    ["a 2: 1>3", "a 1: 1>undefined", "a 1: >1"])
  const [session] = sessionsOf([edit(3, "a", "3"), edit(2, "a"), edit(1, "a", "1")], SERVER)
  assert.deepEqual(textsOf(session).map(({edit, before}) => [edit.value, before]), [["3", "1"], ["1", ""]])
})

test("changed words are counted", () => {
  const count = (before, after) => Object.values(wordsChanged(difference(before, after)))
  assert.deepEqual(count("Rye 300 g, water 200 g", "Rye 300 g, water 210 g, salt 10 g"), [4, 1])
  assert.deepEqual(count("one two", "one, two!"), [0, 0])
  assert.deepEqual(count("", "東京都に行く").map(n => n > 0), [true, false])
})
