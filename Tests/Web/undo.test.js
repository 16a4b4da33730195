import assert from "node:assert/strict"
import test from "node:test"
import {EditHistory, apply, operation, transform} from "../../Public/js/model/undo.js"
import {random} from "./random.js"

/** An editor that knows only texts, as note.js uses the history. */
const editor = (text, history = new EditHistory()) => {
  let now = 0
  const self = {
    get text() { return text },
    type: (after, pause = 0) => {
      now += pause + 1
      history.add(text, after, now)
      text = after
      return self
    },
    receive: after => {
      history.transform(text, after)
      text = after
      return self
    },
    undo: () => self.go(history.undo(text)),
    redo: () => self.go(history.redo(text)),
    go: moved => {
      if (moved) text = moved.text
      return moved
    },
  }
  return self
}

test("typing is one step until a pause, a line break or another place", () => {
  const one = editor("")
  one.type("M").type("Mi").type("Milk")
  one.type("Milk ", 2_000).type("Milk a")
  one.type("Milk a\n").type("Milk a\nb")
  assert.equal(one.undo().text, "Milk a\n")
  assert.deepEqual(one.undo(), {text: "Milk a", caret: 6})
  assert.deepEqual(one.undo(), {text: "Milk", caret: 4})
  assert.deepEqual(one.undo(), {text: "", caret: 0})
  assert.equal(one.undo(), null)
  assert.equal(one.redo().text, "Milk")
  assert.equal(one.redo().text, "Milk a")
  one.type("Milk!", 2_000)
  assert.equal(one.redo(), null, "an edit ends what can be done again")
})

test("removing characters is one step, and replacing a selection another", () => {
  const one = editor("Bread")
  one.type("Brea").type("Bre").type("Br")
  one.type("Butter", 2_000)
  assert.equal(one.undo().text, "Br")
  assert.equal(one.undo().text, "Bread")
})

test("what another device typed stays when one's own edits are undone", () => {
  const one = editor("Milk")
  one.type("Milk and bread")
  one.receive("Today: Milk and (white) bread!")
  assert.equal(one.undo().text, "Today: Milk(white) !", "the blanks were one's own")
  assert.equal(one.redo().text, "Today: Milk and (white) bread!")
  one.undo()
  one.receive("Today: Milk!")
  assert.equal(one.redo().text, "Today: Milk and bread!")
})

test("words that another device removed do not return, and such a step is passed over", () => {
  const one = editor("a")
  one.type("a b")
  one.type("a b c", 2_000)
  one.receive("a b")
  assert.equal(one.undo().text, "a")
})

test("undoing a change of style does not insert words of the part that another device removed", () => {
  const one = editor("Milk, bread, salt")
  one.type("**Milk, bread, salt**")
  one.receive("**Milk, salt**")
  assert.equal(one.undo().text, "Milk, salt")
  assert.equal(one.redo().text, "**Milk, salt**")
})

test("a thousand steps, of four megabytes at most", () => {
  const one = editor("")
  for (let count = 0; count < 1_200; count++) one.type(`${one.text}x`, 2_000)
  let undone = 0
  while (one.undo()) undone++
  assert.equal(undone, 1_000)
  const other = editor("y".repeat(1 << 20))
  for (let count = 0; count < 5; count++) other.type(count % 2 ? "y".repeat(1 << 20) : "", 2_000)
  for (undone = 0; other.undo();) undone++
  assert.ok(undone >= 1 && undone < 5, `${undone} steps`)
})

test("steps that were undone do not count toward the limit", () => {
  const one = editor("y".repeat(1 << 20))
  for (let count = 0; count < 5; count++) {
    one.type("", 2_000)
    one.undo()
  }
  one.type(`${one.text}!`, 2_000)
  one.type(`${one.text}?`, 2_000)
  assert.ok(one.undo() && one.undo())
  assert.equal(one.undo(), null)
})

test("operations transform so that both orders end with one text", () => {
  for (let seed = 1; seed <= 2_000; seed++) {
    const pick = random(seed)
    const word = () => Array.from({length: pick(8)}, () => "abc \n"[pick(5)]).join("")
    const text = word() + word()
    const [one, other] = [operation(text, word()), operation(text, word() + text.slice(pick(9)))]
    const [mine, theirs] = transform(one, other)
    assert.equal(apply(theirs, apply(one, text)), apply(mine, apply(other, text)), `seed ${seed}`)
  }
})

test("random lives: undoing all takes back one's own characters, and nobody else's; doing it again returns them", () => {
  for (let seed = 1; seed <= 500; seed++) {
    const pick = random(seed)
    const one = editor("0123456789")
    const letters = {mine: 97, theirs: 65}
    const gone = new Set()
    for (let step = 0; step < 40; step++) {
      const {text} = one
      const isMine = pick(2)
      const at = pick(text.length + 1)
      const letter = String.fromCharCode(isMine ? letters.mine++ : letters.theirs++)
      const removed = pick(3) ? "" : text.slice(at, at + pick(3))
      if (!isMine) for (const each of removed) gone.add(each)
      const after = text.slice(0, at) + (pick(4) ? letter : "") + text.slice(at + removed.length)
      isMine ? one.type(after, 2_000 * pick(2)) : one.receive(after)
      if (!pick(6)) one.undo()
      if (!pick(9)) one.redo()
    }
    while (one.redo());
    const whole = one.text
    while (one.undo());
    const {text} = one
    assert.deepEqual([...text].filter(each => each >= "a" && each <= "~"), [], `seed ${seed}: ${text}`)
    const digits = [..."0123456789"].filter(each => !gone.has(each)).join("")
    assert.equal([...text].filter(each => /\d/.test(each)).join(""), digits, `seed ${seed}: ${text}`)
    while (one.redo());
    assert.equal(one.text, whole, `seed ${seed}`)
  }
})
