import assert from "node:assert/strict"
import test from "node:test"
import {MAX_STYLED, canStyle, firstState, styleLine} from "../../Public/js/model/markdown.js"
import {random} from "./random.js"

/** A line with its styles: "{bold:words}". */
const looksOf = (line, state = "") => {
  const {kind, parts} = styleLine(line, state)
  assert.equal(parts.map(({text}) => text).join(""), line, "all characters of the line")
  return `${kind}: ${parts.map(({text, looks}) => looks ? `{${looks}:${text}}` : text).join("")}`
}

test("styles of lines", () => {
  assert.equal(looksOf("## Soup"), "heading level-2: {mark:## }Soup")
  assert.equal(looksOf("#Soup"), ": #Soup")
  assert.equal(looksOf("Soup", "start"), "title: Soup")
  assert.equal(looksOf("# Soup", "start"), "title heading level-1: {mark:# }Soup")
  assert.equal(looksOf("> said"), "quote: {mark:> }said")
  assert.equal(looksOf("* one"), "item: {bullet:* }one")
  assert.equal(looksOf("  2. two"), "item:   {bullet:2. }two")
  assert.equal(looksOf("- [ ] milk"), "item check: {bullet hidden:- }{box:[ ]} milk")
  assert.equal(looksOf("- [X] milk"), "item check done: {bullet hidden:- }{box:[X]} milk")
  assert.equal(looksOf("- [ ]milk"), "item: {bullet:- }[ ]milk")
  assert.equal(looksOf("***"), "rule: {mark:***}")
  assert.equal(looksOf("-5 degrees"), ": -5 degrees")
  assert.equal(looksOf("- milk\r"), "item: {bullet:- }milk\r")
})

test("styles within lines", () => {
  assert.equal(looksOf("a **b *c* d** e"), ": a {bold mark:**}{bold:b }{bold italic mark:*}{bold italic:c}{bold italic mark:*}{bold: d}{bold mark:**} e")
  assert.equal(looksOf("2 * 3 * 4 snake_case_name **not"), ": 2 * 3 * 4 snake_case_name **not")
  assert.equal(looksOf("`**a**` ~~b~~"), ": {code mark:`}{code:**a**}{code mark:`} {mark struck:~~}{struck:b}{mark struck:~~}")
  assert.equal(looksOf("``a`b`` c"), ": {code mark:``}{code:a`b}{code mark:``} c")
  assert.equal(looksOf("\\*a\\*"), ": {mark:\\}*a{mark:\\}*")
  assert.equal(looksOf("[here](https://a.example) https://b.example/c_d_e"),
    ": {mark:[}{link:here}{mark:](https://a.example)} {link:https://b.example/c_d_e}")
  assert.equal(looksOf("[here](javascript:alert(1))"), ": {mark:[}here{mark:](javascript:alert(1))}")
  assert.equal(looksOf("[[Soup]]"), ": {mark note-link:[[}{note-link:Soup}{mark note-link:]]}")
  assert.equal(looksOf("on 21 November 2026"), ": on {date:21 November 2026}")
  const mark = String.raw`![the \[bed\]](attachment:8f0e2c1a-0000-4000-8000-000000000001 'title')`
  assert.deepEqual(styleLine(mark, "").parts,
    [{text: mark, looks: "embed mark", about: {id: "8f0e2c1a-0000-4000-8000-000000000001", alt: "the [bed]"}}])
})

test("fenced code and front matter span several lines", () => {
  const kinds = text => {
    let state = firstState(text)
    return text.split("\n").map(line => {
      const {kind, next} = styleLine(line, state)
      state = next
      return kind
    })
  }
  assert.deepEqual(kinds("a\n```js\n# no heading\n``\n````\nb"), ["title", "fenced fence-start", "fenced", "fenced", "fenced fence-end", ""])
  assert.deepEqual(kinds("~~~\n```\n~~~\n\na"), ["fenced fence-start", "fenced", "fenced fence-end", "", ""])
  assert.deepEqual(kinds("---\ntags: [a]\n---\n\nTitle\n---"), ["meta", "meta", "meta", "", "title", "rule"])
  assert.deepEqual(kinds("---\nno metadata"), ["rule", "title"])
})

test("every line is styled in linear time, and no character is lost", () => {
  const hostile = {
    stars: "*".repeat(1e5), emphasis: "*a_b~~".repeat(3e3), ticks: Array.from({length: 190}, (_, length) => "`".repeat(length)).join(" "),
    brackets: "[".repeat(2e4), links: "[a](".repeat(5e3), pictures: "![a](b".repeat(3e3), quotes: "> ".repeat(1e4),
    notes: "[[a".repeat(7e3), addresses: "a@".repeat(1e4), urls: `http://${"(a".repeat(1e4)}`, spaces: `${" ".repeat(2e4)}x`,
  }
  for (const [name, line] of Object.entries(hostile)) {
    const begin = performance.now()
    looksOf(line)
    const took = performance.now() - begin
    assert.ok(took < 1_000, `${name}: ${took} ms`) // milliseconds; a quadratic search takes seconds
  }
  const next = random(7)
  const alphabet = ["*", "**", "_", "`", "~~", "[", "]", "(", ")", "!", " ", "a", "é", "😀", "https://x.org", "\\", "#", "- ", "[ ] ", ">", "\r"]
  for (let count = 0; count < 3_000; count++) {
    looksOf(Array.from({length: 1 + next(14)}, () => alphabet[next(alphabet.length)]).join(""), ["", "start", "```", "meta"][count % 4])
  }
})

test("large texts are not styled while they are written", () => {
  assert.ok(canStyle("a\n".repeat(MAX_STYLED.lines - 1)))
  assert.ok(!canStyle("a\n".repeat(MAX_STYLED.lines)))
  assert.ok(canStyle("a".repeat(MAX_STYLED.line)))
  assert.ok(!canStyle(`b\n${"a".repeat(MAX_STYLED.line + 1)}`))
  assert.ok(!canStyle(`${"a".repeat(MAX_STYLED.line + 1)}\nb`))
  assert.ok(!canStyle("abcdefg\n".repeat(MAX_STYLED.length / 8 + 1)))
})
