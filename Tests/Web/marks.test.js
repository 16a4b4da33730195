import assert from "node:assert/strict"
import test from "node:test"
import {dataPicturesOf, markOf, marksOf, onOwnLines, withIDs, withPaths, withoutMarks} from "../../Public/js/model/marks.js"
import {excerptOf, titleOf} from "../../Public/js/model/text.js"

const ID = "c9a646d3-9c61-4cb7-bfcd-ee2522c8f633", OTHER = "5f0c5a1e-6d0b-4c8e-9d3a-2b7f4e1c8a90"

test("marks have places, IDs and alternative texts", () => {
  const text = `a ![x \\[y\\]](attachment:${ID} "t") b ${markOf(OTHER)}`
  assert.deepEqual(marksOf(text), [
    {id: ID, alt: "x [y]", start: 2, end: text.indexOf(" b")}, {id: OTHER, alt: "", start: text.indexOf("b ") + 2, end: text.length},
  ])
  for (const alt of ["", "a", "[a]", "a\\", "![x](y)", "\"'()"]) {
    const [mark] = marksOf(`x${markOf(ID, alt)}y`)
    assert.deepEqual(mark, {id: ID, alt, start: 1, end: markOf(ID, alt).length + 1})
  }
  assert.equal(markOf(ID, "two\n lines"), `![two lines](attachment:${ID})`)
})

test("IDs and paths are replaced, all else stays", () => {
  const text = `![a](attachment:${ID} "t")![](attachment:${OTHER})`
  assert.equal(withIDs(text, {[ID]: OTHER}), `![a](attachment:${OTHER} "t")![](attachment:${OTHER})`)
  assert.equal(withIDs(text, {}), text)
  assert.equal(withPaths(text, id => id === ID ? "Attachments/é 🌅 (2)#?%.png" : ""),
    `![a](Attachments/é%20🌅%20%282%29%23%3F%25.png "t")![](attachment:${OTHER})`)
})

test("titles and excerpts contain no marks", () => {
  const text = `![](attachment:${ID})\n# ![Rome](attachment:${ID})\n- ![](attachment:${ID})\nand ![the villa](attachment:${ID}) more`
  assert.equal(titleOf(text), "Rome")
  assert.equal(excerptOf(text), "and the villa more")
  assert.equal(titleOf(`![](attachment:${ID})`.repeat(9)), "")
})

test("inserted lines get the line breaks that they need", () => {
  assert.equal(onOwnLines("", "x", ""), "x\n")
  assert.equal(onOwnLines("a", "x", "b"), "\nx\n")
  assert.equal(onOwnLines("a\n", "x", "\nb"), "x")
})

test("pictures in the text are found with their bytes", () => {
  const text = "a ![dot](data:image/png;base64,AA+/=) ![](data:text/html;base64,AA) ![](data:image/svg+xml;base64,AA)"
  assert.deepEqual(dataPicturesOf(text), [{id: "", alt: "dot", type: "image/png", base64: "AA+/=", start: 2, end: 37}])
})

test("finding marks takes linear time", () => {
  for (const part of ["![", "![\\", `![](attachment:${ID} "`, `![](attachment:${ID} (\\`, "](attachment:", "![](data:image/png;base64,A"]) {
    const text = part.repeat((1 << 20) / part.length)
    const begin = performance.now()
    marksOf(text)
    withoutMarks(text)
    dataPicturesOf(text)
    assert.ok(performance.now() - begin < 1500, `${part}: ${performance.now() - begin} ms`)
  }
})
