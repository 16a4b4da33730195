import assert from "node:assert/strict"
import test from "node:test"
import {finderOf, haystackOf, matchesOf, queryOf} from "../../Public/js/model/search.js"
import {random} from "./random.js"

const TAGS = [{id: "1", name: "work"}, {id: "2", name: "work/mail"}, {id: "3", name: "workshop"}, {id: "4", name: "two words"}]
const NOTE = {text: "", haystack: "", pinned: false, archived: false, tags: () => [], hasFile: () => false}
/** Whether a query finds a note. */
const finds = (query, text, {tags = [], hasFile = false, ...note} = {}) => finderOf(queryOf(query), TAGS)(
  {...NOTE, ...note, text, haystack: haystackOf(text), tags: () => tags, hasFile: () => hasFile})
/** The marked pieces of a text. */
const marked = (query, text) => matchesOf(query, text).map(([start, end]) => text.slice(start, end))

test("words are found in any part, without case and accents", () => {
  for (const query of ["leek", "eek", "LEEK so", "ek soup", "soup leek", "\"leek soup\"", "émile", "mil", ""]) {
    assert.ok(finds(query, "Leek soup for Emile"), query)
  }
  for (const query of ["leak", "\"soup leek\"", "leek bread"]) assert.ok(!finds(query, "Leek soup for Emile"), query)
  assert.ok(finds("strasse", "Die Straße"))
  assert.ok(finds("京", "東京都") && finds("東京", "大東京都") && !finds("東京都", "東京 京都"))
})

test("words after a dash are excluded", () => {
  assert.ok(finds("soup -bread", "Leek soup") && !finds("soup -leek", "Leek soup"))
  assert.ok(finds("-bread", "Leek soup") && !finds("-\"leek soup\"", "Leek soup"))
  assert.ok(finds("well-known", "a well known fact"), "a dash within a word excludes nothing")
  assert.ok(finds("leek - soup", "Leek soup"), "nor does a dash alone")
})

test("operators: tags, pinned, archived, files", () => {
  assert.ok(finds("tag:work", "", {tags: ["1"]}) && finds("Tag:WORK", "", {tags: ["2"]}), "with tags below it")
  assert.ok(!finds("tag:work", "work", {tags: ["3"]}), "not the word, nor a longer name")
  assert.ok(finds("tag:shop", "", {tags: ["3"]}), "part of a name, if no tag has this name")
  assert.ok(finds("tag:\"two words\"", "", {tags: ["4"]}) && !finds("-tag:work", "", {tags: ["1"]}) && finds("-tag:nothing", ""))
  assert.ok(finds("is:pinned", "", {pinned: true}) && !finds("is:pinned", "") && finds("-is:pinned", ""))
  assert.ok(finds("is:archived", "", {archived: true}) && !finds("IS:Archived", ""))
  assert.ok(finds("has:file soup", "soup", {hasFile: true}) && !finds("has:file", "soup"))
  assert.ok(finds("is:green", "This is: green") && !finds("is:green", "green"), "unknown values are words")
  assert.ok(finds("by:me", "by me") && finds("tag:", "a tag"))
})

test("words are found in names of tags", () => {
  assert.ok(finds("shop milk", "milk", {tags: ["3"]}) && finds("mail", "", {tags: ["2"]}))
  assert.ok(!finds("-shop", "milk", {tags: ["3"]}))
})

test("symbols are found as they are, punctuation if there is nothing else", () => {
  assert.ok(finds("🎉", "Party 🎉") && !finds("🎉", "Party") && !finds("party 🦆", "Party 🎉") && !finds("-🎉", "Party 🎉"))
  assert.ok(finds("?", "why?") && !finds("?", "why") && finds("why ?", "why") && !finds("\"?\"", "why"))
})

test("matches: ranges of the original text", () => {
  assert.deepEqual(marked("eek émile", "Leek soup for E\u0301mile"), ["eek", "E\u0301mile"])
  assert.deepEqual(marked("\"soup, for\" -leek tag:x", "Leek soup — for Émile"), ["soup — for"])
  assert.deepEqual(marked("strass", "Die Straße, STRASSE"), ["Straß", "STRASS"])
  assert.deepEqual(marked("fi", "oﬃce"), ["ﬃ"])
  assert.deepEqual(marked("ab bc", "abc 🎉 abcabc"), ["abc", "abcabc"])
  assert.deepEqual(marked("🎉", "a 🎉 b🎉"), ["🎉", "🎉"])
  assert.deepEqual(matchesOf("two", "one\ntwo\n\nTwo"), [[4, 7], [9, 12]])
  assert.deepEqual(matchesOf("", "text"), [])
  assert.deepEqual(matchesOf("-text", "text"), [])
})

test("matches: a text is marked where it is found, and only there", () => {
  const pick = random(11)
  const pieces = ["a", "b", "É", "e\u0301", "ß", "ﬁ", " ", "-", "\n", "東", "京", "ｶﾞ", "か\u3099", "क", "ि", "\u00ad", "🎉", "한", "ᄒ", "ﾞ", "½", "Ǆ", "σ", "ς"]
  const some = count => Array.from({length: count}, () => pieces[pick(pieces.length)]).join("")
  for (let round = 0; round < 4_000; round++) {
    const text = some(pick(12))
    const query = some(1 + pick(3))
    const {parts} = queryOf(query)
    const isWords = parts.length && parts.every(({kind, isExcluded}) => kind === "words" && !isExcluded)
    if (!isWords) continue
    const found = parts.every(({value}) => haystackOf(text).includes(value))
    assert.equal(parts.every(part => matchesOf({parts: [part], problem: null}, text).length > 0), found, JSON.stringify([query, text]))
    let last = -1
    for (const [start, end] of matchesOf(query, text)) {
      assert.ok(start > last && end > start && end <= text.length, JSON.stringify([query, text]))
      last = end
    }
  }
})

test("matches in a long text", () => {
  for (const piece of ["lorem ipsum\n", "lorem ipsum ", "Ελληνικά é ", "東京", "e\u0301", "a\u0301".repeat(50), " "]) {
    const text = piece.repeat((1 << 18) / piece.length)
    const begin = performance.now()
    matchesOf("ipsum ν 京 e", text)
    assert.ok(performance.now() - begin < 5_000, `${piece}: ${performance.now() - begin} ms`)
  }
})

test("search over 10,000 notes of 1 KB", () => {
  const words = "the of and to in for is on that by this with you it not or are information café price week".split(" ")
  const pick = random(7)
  const notes = Array.from({length: 10_000}, () => {
    let text = ""
    while (text.length < 1024) text += words[pick(words.length)] + (pick(9) ? " " : ", ")
    return {...NOTE, haystack: haystackOf(text)}
  })
  const queries = [["in", 9_000, 10_000], ["zebra", 0, 0], ["cafe pri", 9_000, 10_000], ["\"price week\"", 1, 9_999], ["e", 9_000, 10_000], ["-zebra", 10_000, 10_000]]
  for (const [typed, least, most] of queries) {
    const find = finderOf(queryOf(typed), [])
    let best = Infinity, count = 0
    for (let round = 0; round < 5; round++) {
      const begin = performance.now()
      count = notes.filter(find).length
      best = Math.min(best, performance.now() - begin)
    }
    assert.ok(count >= least && count <= most, `${typed}: ${count}`)
    assert.ok(best < 100, `${typed}: ${best} ms`) // 1 to 10 ms on a quiet machine
  }
})
