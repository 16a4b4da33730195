import assert from "node:assert/strict"
import test from "node:test"
import {difference, moveCaret, putIn, rebase, splice} from "../../Public/js/model/difference.js"
import {random} from "./random.js"

const PARTS = ["a", "b ", "word", " ", "\n", "\r\n", "é", "e\u0301", "👍🏽", "👩‍👩‍👧‍👦", "🇩🇪", "🇫🇷", "1\ufe0f\u20e3",
  "東京", "กำ", "น้ำ", "हिन्दी", "각", "각", "x\u200dy",
  "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}", "𠮷", "שָׁ", "!", "--", "க்ஷி"]

const randomText = (pick, length) => Array.from({length}, () => PARTS[pick(PARTS.length)]).join("")

const randomEdit = (pick, text) => {
  const parts = [...new Intl.Segmenter().segment(text)].map(({segment}) => segment)
  for (let edits = pick(4) + 1; edits; edits--) parts.splice(pick(parts.length + 1), pick(3), PARTS[pick(PARTS.length)])
  return parts.join("")
}

/** The boundaries of grapheme clusters, where a text may be divided. */
const boundaries = text => {
  const positions = new Set([0, text.length])
  for (const {index} of new Intl.Segmenter().segment(text)) positions.add(index)
  return positions
}

const of = (kinds, pieces) => pieces.filter(({kind}) => kinds.includes(kind)).map(({text}) => text).join("")
const shown = (before, after) =>
  difference(before, after).map(({kind, text}) => `${{same: "", removed: "-", added: "+"}[kind]}${text}`).join("|")

test("differences: words within lines", () => {
  assert.equal(shown("The red fox jumps\nhi\n", "The blue fox leaps\nhi\nmore\n"),
    "The |-red|+blue| fox |-jumps|+leaps|\nhi\n|+more\n")
  assert.equal(shown("a\nb\nc\n", "b\nc\nd\n"), "-a\n|b\nc\n|+d\n")
  assert.equal(shown("東京都に行く", "東京都へ行く"), "東京都|-に|+へ|行く")
  assert.equal(shown("one two three", "quite other words"), "-one two three|+quite other words")
  assert.equal(shown("", "new"), "+new")
  assert.equal(shown("old", ""), "-old")
  assert.equal(shown("same", "same"), "same")
  assert.deepEqual(difference("", ""), [])
})

test("differences: the pieces contain both texts, and whole characters", () => {
  const pick = random(1)
  for (let round = 0; round < 1500; round++) {
    const before = randomText(pick, pick(30))
    const after = pick(5) ? randomEdit(pick, before) : randomText(pick, pick(30))
    const pieces = difference(before, after)
    assert.equal(of(["same", "removed"], pieces), before)
    assert.equal(of(["same", "added"], pieces), after)
    let old = 0, now = 0
    const [inBefore, inAfter] = [boundaries(before), boundaries(after)]
    for (const [i, {kind, text}] of pieces.entries()) {
      assert.ok(text && kind !== pieces[i - 1]?.kind)
      if (kind !== "added") assert.ok(inBefore.has(old += text.length), JSON.stringify([before, after, pieces]))
      if (kind !== "removed") assert.ok(inAfter.has(now += text.length), JSON.stringify([before, after, pieces]))
    }
  }
})

test("splices: the replaced range, in whole characters", () => {
  assert.deepEqual(splice("abcdef", "abXdef"), {start: 2, end: 3, text: "X"})
  assert.deepEqual(splice("aa", "aaa"), {start: 2, end: 2, text: "a"})
  assert.deepEqual(splice("👍🏻", "👍🏿"), {start: 0, end: 4, text: "👍🏿"})
  const pick = random(2)
  for (let round = 0; round < 1500; round++) {
    const before = randomText(pick, pick(20)), after = randomEdit(pick, before)
    const {start, end, text} = splice(before, after)
    assert.equal(before.slice(0, start) + text + before.slice(end), after)
    for (const at of [start, end]) assert.ok(boundaries(before).has(at), JSON.stringify([before, after, start, end]))
    for (const at of [start, start + text.length]) assert.ok(boundaries(after).has(at), JSON.stringify([before, after]))
  }
})

test("the cursor stays at its words", () => {
  const moved = (before, after) => {
    const at = moveCaret(before.indexOf("^"), before.replace("^", ""), after)
    return `${after.slice(0, at)}^${after.slice(at)}`
  }
  assert.equal(moved("hel^lo\nworld", "new\nhello\nworld"), "new\nhel^lo\nworld")
  assert.equal(moved("hello^\nworld", "hello, you\nworld"), "hello^, you\nworld")
  assert.equal(moved("hello\n^world", "hello\nnew\nworld"), "hello\nnew\n^world")
  assert.equal(moved("hello\n^", "hello\nnew\n"), "hello\n^new\n")
  assert.equal(moved("a b ^c", "x b c y"), "x b ^c y")
  assert.equal(moved("the red ^fox", "the fox"), "the ^fox")
  assert.equal(moved("the wo^rd here", "the world here"), "the wo^rld here")
  assert.equal(moved("^", "new"), "new^")
  const pick = random(3)
  for (let round = 0; round < 800; round++) {
    const before = randomText(pick, pick(20)), after = randomEdit(pick, before)
    for (const at of boundaries(before)) {
      const to = moveCaret(at, before, after)
      assert.ok(boundaries(after).has(to), JSON.stringify([before, after, at, to]))
    }
  }
})

test("rebasing: both changes, or null", () => {
  assert.equal(rebase("a\nb\nc", "a1\nb\nc", "a\nb\nc2"), "a1\nb\nc2")
  assert.equal(rebase("one two three", "one two three four", "zero one two three"), "zero one two three four")
  assert.equal(rebase("x y z", "x y z", "other"), "other")
  assert.equal(rebase("x y z", "X y Z", "x why z"), null)
  assert.equal(rebase("red", "blue", "green"), null)
  assert.equal(rebase("list\n", "list\na\n", "list\nb\n"), null, "two insertions at one position: the server decides")
  assert.equal(rebase("", "a", "b"), null)
  assert.equal(rebase("a b c", "a b d", "a b d"), "a b d")
})

test("replaced words are restored at their positions", () => {
  const standing = "The green car\nand the black one"
  assert.equal(putIn(standing, [{text: "blue", location: 4, length: 5}]), "The blue car\nand the black one")
  const both = [{text: "blue", location: 4, length: 5}, {text: " white", location: 21, length: 6}]
  assert.equal(putIn(standing, both), "The blue car\nand the white one")
  assert.equal(putIn("👩‍👩‍👧 b", [{text: "a ", location: 9, length: 0}]), "👩‍👩‍👧 a b", "UTF-16 code units")
  assert.equal(putIn("all of it", [{text: "another", location: 0, length: 9}]), "another")
  const pick = random(5)
  for (let round = 0; round < 300; round++) {
    const before = randomText(pick, pick(20)), after = randomEdit(pick, before)
    const {start, end, text} = splice(before, after)
    assert.equal(putIn(before, [{text, location: start, length: end - start}]), after)
  }
})

test("the time is bounded", () => {
  const pick = random(4)
  const lines = Array.from({length: 40_000}, () => `line ${pick(1000)}`)
  const other = lines.map(line => pick(3) ? line : `other ${pick(1000)}`)
  const pairs = [[lines.join("\n"), other.join("\n")], ["a b ".repeat(100_000), "b a c ".repeat(100_000)],
    ["x".repeat(1 << 20), `${"x".repeat(1 << 20)}y`]]
  const begin = performance.now()
  for (const [before, after] of pairs) {
    assert.equal(of(["same", "added"], difference(before, after)), after)
    splice(before, after)
  }
  assert.ok(performance.now() - begin < 15_000, `${performance.now() - begin} ms`)
})
