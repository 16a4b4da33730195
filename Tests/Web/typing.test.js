import assert from "node:assert/strict"
import test from "node:test"
import {breakLine, indent, linkOf, makeLink, outdent, toggleBox, toggleChecklist, toggleMark} from "../../Public/js/model/typing.js"

/** Reads a text in which "|" marks both ends of the selection, or the caret. */
const read = marked => {
  const start = marked.indexOf("|")
  const end = Math.max(start, marked.lastIndexOf("|") - 1)
  return [marked.replaceAll("|", ""), start, end]
}
/** The text after an edit, with the selection marked; null without an edit. */
const done = (command, marked, ...rest) => {
  const [text, start, end] = read(marked)
  const edit = command(text, start, end, ...rest)
  if (!edit) return null
  const result = text.slice(0, edit.start) + edit.text + text.slice(edit.end)
  const [from, to] = edit.select
  return result.slice(0, from) + "|" + (to > from ? result.slice(from, to) + "|" : "") + result.slice(to)
}

test("Enter continues lists and quotations, and ends them at an empty item", () => {
  const cases = {
    "- milk|": "- milk\n- |",
    "- milk\n- |": "- milk\n|",
    "  * a|b": "  * a\n  * |b",
    "9. nine|": "9. nine\n10. |",
    "1) one|": "1) one\n2) |",
    "- [x] done|": "- [x] done\n- [ ] |",
    "- [ ] |": "|",
    "> quote|": "> quote\n> |",
    ">quote|": ">quote\n> |",
    "> |": "|",
    "> - item|": "> - item\n> - |",
    "> - |": "> |",
    "- a\n- [ ] b|\n- c": "- a\n- [ ] b\n- [ ] |\n- c",
    "- |b|c": "- \n- |c",
    "```\n  code|": "```\n  code\n  |",
    "```\n- code|\n```": "```\n- code\n|\n```",
    "words|": null,
    "|- milk": null,
    "-|": null,
    "2026. A year|": "2026. A year\n2027. |",
    "*bold*|": null,
    "---|": null,
  }
  for (const [before, after] of Object.entries(cases)) assert.equal(done(breakLine, before), after, JSON.stringify(before))
})

test("Tab and Shift+Tab indent items by the width of the bullet", () => {
  assert.equal(done(indent, "- a\n- b|"), "- a\n  - b|")
  assert.equal(done(indent, "1. a|"), "   1. a|")
  assert.equal(done(indent, "- |a\n- b|"), "  - |a\n  - b|")
  assert.equal(done(indent, "> - a|"), ">   - a|")
  assert.equal(done(indent, "wo|rds"), null)
  assert.equal(done(outdent, "- a\n  - b|"), "- a\n- b|")
  assert.equal(done(outdent, "   1. a|"), "1. a|")
  assert.equal(done(outdent, "\t- a|"), "- a|")
  assert.equal(done(outdent, "  - |a\n  - b|"), "- |a\n- b|")
  assert.equal(done(outdent, "- a|"), "- a|", "nothing to remove, but the focus stays")
  assert.equal(done(outdent, "wo|rds"), null)
  assert.equal(done(outdent, "  |  - a"), "|  - a")
})

test("lines become check lists, and check lists become lines", () => {
  assert.equal(done(toggleChecklist, "milk|"), "- [ ] milk|")
  assert.equal(done(toggleChecklist, "- milk|"), "- [ ] milk|")
  assert.equal(done(toggleChecklist, "1. milk|"), "- [ ] milk|")
  assert.equal(done(toggleChecklist, "|milk\n\nbread|"), "- [ ] |milk\n\n- [ ] bread|")
  assert.equal(done(toggleChecklist, "- [ ] mi|lk"), "mi|lk")
  assert.equal(done(toggleChecklist, "|- [ ] a\n- [x] b|"), "|a\nb|")
  assert.equal(done(toggleChecklist, "|- [ ] a\nb|"), "|- [ ] a\n- [ ] b|")
  assert.equal(done(toggleChecklist, "|"), "- [ ] |")
  assert.equal(done(toggleBox, "- [ ] mi|lk"), "- [x] mi|lk")
  assert.equal(done(toggleBox, "a\n* [X] mi|lk"), "a\n* [ ] mi|lk")
  assert.equal(done(toggleBox, "mi|lk [ ]"), null)
})

test("bold and italic are put around words, and removed", () => {
  const bold = marked => done(toggleMark, marked, "**")
  const italic = marked => done(toggleMark, marked, "*")
  assert.equal(bold("a |word| b"), "a **|word|** b")
  assert.equal(bold("a **|word|** b"), "a |word| b")
  assert.equal(bold("a |**word**| b"), "a |word| b")
  assert.equal(bold("a wo|rd b"), "a **wo|rd** b")
  assert.equal(bold("a **wo|rd** b"), "a wo|rd b")
  assert.equal(bold("a |"), "a **|**")
  assert.equal(bold("a **|**"), "a |")
  assert.equal(bold("a| word |b"), "a **|word|** b")
  assert.equal(bold("|- one\n- two|"), "- **|one**\n- **two|**")
  assert.equal(italic("a |word| b"), "a *|word|* b")
  assert.equal(italic("a **|word|** b"), "a ***|word|*** b", "bold stays")
  assert.equal(italic("a ***|word|*** b"), "a **|word|** b")
  assert.equal(italic("|   |"), "|   |")
})

test("links are made of words, of addresses, and of words over which an address is pasted", () => {
  assert.equal(done(makeLink, "see |here|"), "see [here](|)")
  assert.equal(done(makeLink, "see |https://example.org|"), "see [|](https://example.org)")
  assert.equal(done(makeLink, "see |"), "see [|]()")
  assert.equal(done(linkOf, "see |here|", "https://example.org/a_(b)"), "see [here](https://example.org/a_%28b%29)|")
  assert.equal(done(linkOf, "see |here|", "two words"), null)
  assert.equal(done(linkOf, "see |", "https://example.org"), null)
})
