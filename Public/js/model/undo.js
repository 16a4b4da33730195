// Undo and redo in a text that other devices edit too. Undo reverts only the edits of this person.
//
// An operation is a list of parts that covers a whole text. A positive number keeps that many UTF-16 code units, a negative number
// removes that many, and a string is inserted. When another device edits the text, its operation and the recorded ones are
// transformed against each other (operational transformation; Ellis and Gibbs, 1989).
import {difference, splice} from "./difference.js"

const MAX_STEPS = 1_000
/** The maximum total length of the text that undoing all steps would insert, in code units: 4 MiB. */
const MAX_SIZE = 2 << 20
/** Typing without a pause of this length is one step, in ms. */
const PAUSE = 1_000

/** @type {(part: any) => part is string} */
const isInsertion = part => typeof part === "string"
/** The number of code units of the text before the operation that a part covers. */
const covers = part => isInsertion(part) ? 0 : Math.abs(part)

/** Appends a part. At one place, insertions come before removals, so that equal operations have equal parts. */
const push = (/** @type {any[]} */ parts, /** @type {any} */ part) => {
  if (!part) return parts
  const last = parts[parts.length - 1]
  if (last !== undefined && isInsertion(last) === isInsertion(part) && (isInsertion(part) || last > 0 === part > 0)) {
    parts[parts.length - 1] = last + part
  } else if (isInsertion(part) && last < 0) {
    parts.pop()
    push(push(parts, part), last)
  } else parts.push(part)
  return parts
}

/** Reads parts one by one, or in pieces of a given length. */
const reader = parts => {
  let at = 0
  let rest = parts[0]
  return {
    get part() { return rest },
    /** Returns the next part, or its first piece if it is longer than `most`. */
    take: (most = Infinity) => {
      const part = rest
      const isLong = isInsertion(part) ? part.length > most : Math.abs(part) > most
      if (!isLong) rest = parts[++at]
      else rest = isInsertion(part) ? part.slice(most) : part - Math.sign(part) * most
      return isLong ? isInsertion(part) ? part.slice(0, most) : Math.sign(part) * most : part
    },
  }
}

/** The operation that replaces one stretch of `before`. */
const replacement = (before, {start, end, text}) => [start, start - end, text, before.length - end].reduce(push, [])

/**
 * The operation that makes one text of another. It changes only what differs: of a replaced word, it keeps the characters that both
 * words begin or end with.
 *
 * @type {(before: string, after: string) => Operation}
 */
export const operation = (before, after) => {
  const changed = {removed: "", added: ""}
  const parts = []
  const end = () => {
    replacement(changed.removed, splice(changed.removed, changed.added)).reduce(push, parts)
    Object.assign(changed, {removed: "", added: ""})
  }
  for (const {kind, text} of difference(before, after)) {
    if (kind === "same") {
      end()
      push(parts, text.length)
    } else changed[kind] += text
  }
  end()
  return parts
}

/** @type {(parts: Operation, text: string) => string} */
export const apply = (parts, text) => {
  let at = 0
  let result = ""
  for (const part of parts) {
    if (isInsertion(part)) result += part
    else if (part > 0) result += text.slice(at, at + part)
    at += covers(part)
  }
  return result
}

/** The operation that reverts an operation. `text` is the text before the operation. */
const inverse = (parts, text) => {
  let at = 0
  return parts.reduce((/** @type {Operation} */ all, part) => {
    push(all, isInsertion(part) ? -part.length : part > 0 ? part : text.slice(at, at - part))
    at += covers(part)
    return all
  }, [])
}

/**
 * Transforms two operations on the same text, so that each can be applied after the other. If both insert at the same place, the
 * text of the first operation comes first.
 *
 * @type {(one: Operation, other: Operation) => [Operation, Operation]}
 */
export const transform = (one, other) => {
  const [a, b] = [reader(one), reader(other)]
  const [first, second] = [[], []]
  while (a.part !== undefined || b.part !== undefined) {
    if (isInsertion(a.part)) {
      push(second, a.part.length)
      push(first, a.take())
    } else if (isInsertion(b.part)) {
      push(first, b.part.length)
      push(second, b.take())
    } else {
      const count = Math.min(Math.abs(a.part), Math.abs(b.part))
      const [mine, theirs] = [a.take(count), b.take(count)]
      if (theirs > 0) push(first, mine)
      if (mine > 0) push(second, theirs)
    }
  }
  return [first, second]
}

/** One operation with the effect of two, of which the second is applied after the first. */
const compose = (one, other) => {
  const [a, b] = [reader(one), reader(other)]
  const parts = []
  while (a.part !== undefined || b.part !== undefined) {
    if (!isInsertion(a.part) && a.part < 0) push(parts, a.take())
    else if (isInsertion(b.part)) push(parts, b.take())
    else {
      const count = Math.min(isInsertion(a.part) ? a.part.length : a.part, Math.abs(b.part))
      const [made, then] = [a.take(count), b.take(count)]
      if (then > 0) push(parts, made)
      else if (!isInsertion(made)) push(parts, then)
    }
  }
  return parts
}

const changes = parts => parts.some(part => isInsertion(part) || part < 0)
const sizeOf = parts => parts.reduce((sum, part) => sum + (isInsertion(part) ? part.length : 0), 0)
/** The end of the last change of an operation, in the text after the operation. */
const endOf = parts => {
  let at = 0
  let end = 0
  for (const part of parts) {
    at += isInsertion(part) ? part.length : Math.max(0, part)
    if (isInsertion(part) || part < 0) end = at
  }
  return end
}

/** @implements {UndoHistory} */
export class EditHistory {
  /** The operations that undo the steps, in the order of the steps. */
  #done = []
  /** The operations that redo steps that were undone, the next one last. */
  #undone = []
  /**
   * The place and time at which typing may continue the last step. Null if the next edit begins a new step.
   *
   * @type {{now: number, place: number, isRemoval: boolean} | null}
   */
  #typing = null

  add(before, after, now, change = splice(before, after)) {
    if (before === after) return
    const {start, end, text} = change
    // Of a replaced part, such as one that became bold, only what differs is recorded. The rest is not inserted again if another
    // person has removed it when this step is undone.
    const parts = [start, ...operation(before.slice(start, end), text), before.length - end].reduce(push, [])
    const undo = inverse(parts, before)
    const [isInsertion, isRemoval] = [start === end, !text]
    // Text is only inserted or only removed, and it is not a line break.
    const isSimple = isInsertion !== isRemoval && text !== "\n"
    const typing = this.#typing
    const goesOn = typing && isSimple && now - typing.now < PAUSE && typing.place === end && typing.isRemoval === isRemoval
    this.#done.push(goesOn ? compose(undo, this.#done.pop()) : undo)
    this.#limit()
    this.#typing = isSimple ? {now, place: start + text.length, isRemoval} : null
    this.#undone = []
  }

  /** Discards the oldest steps beyond the limits. The last step always stays. */
  #limit() {
    let size = this.#done.reduce((sum, parts) => sum + sizeOf(parts), 0)
    while (this.#done.length > MAX_STEPS || size > MAX_SIZE && this.#done.length > 1) size -= sizeOf(this.#done.shift())
  }

  transform(before, after) {
    const theirs = operation(before, after)
    if (!changes(theirs)) return
    this.#typing = null
    for (const steps of [this.#done, this.#undone]) {
      let rest = theirs
      for (let at = steps.length - 1; at >= 0; at--) [steps[at], rest] = transform(steps[at], rest)
    }
  }

  undo = text => this.#move(text, this.#done, this.#undone)
  redo = text => this.#move(text, this.#undone, this.#done)

  #move(text, from, to) {
    this.#typing = null
    // Skips steps without effect: other devices have removed the text that these steps inserted.
    while (from.length) {
      const parts = from.pop()
      if (!changes(parts)) continue
      to.push(inverse(parts, text))
      return {text: apply(parts, text), caret: endOf(parts)}
    }
    return null
  }
}
