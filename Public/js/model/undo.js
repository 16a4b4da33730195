// Undo of one's own edits in a text that other devices edit as well. An operation is a list of parts that runs over a whole text:
// a positive number keeps so many UTF-16 code units, a negative one removes so many, a string is inserted. Two operations on one
// text are transformed against each other (Ellis and Gibbs, 1989), so that undoing takes back one's own edits alone.
import {difference, splice} from "./difference.js"

const MAX_STEPS = 1_000
/** The maximum size of all inserted text in the steps, in code units. */
const MAX_SIZE = 2 << 20
/** Typing is one step until there is a pause of so many ms. */
const PAUSE = 1_000

/** @type {(part: any) => part is string} */
const isInsertion = part => typeof part === "string"
/** How much of the text before an operation a part covers. */
const covers = part => isInsertion(part) ? 0 : Math.abs(part)

/** Appends a part; insertions come before removals at one place, so that equal operations have equal parts. */
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

/** Takes parts apart in pieces of the wanted size. */
const reader = parts => {
  let at = 0
  let rest = parts[0]
  return {
    get part() { return rest },
    /** The next part; of one that is a number or a string, at most so much. */
    take: (most = Infinity) => {
      const part = rest
      const isLong = isInsertion(part) ? part.length > most : Math.abs(part) > most
      if (!isLong) rest = parts[++at]
      else rest = isInsertion(part) ? part.slice(most) : part - Math.sign(part) * most
      return isLong ? isInsertion(part) ? part.slice(0, most) : Math.sign(part) * most : part
    },
  }
}

/** The operation that replaces one stretch of a text. */
const replacement = (before, after) => {
  const {start, end, text} = splice(before, after)
  return [start, start - end, text, before.length - end].reduce(push, [])
}

/**
 * The operation that makes one text of another, as small as that can be seen: in words that were replaced, it keeps their common
 * beginning and end.
 *
 * @type {(before: string, after: string) => Operation}
 */
export const operation = (before, after) => {
  const changed = {removed: "", added: ""}
  const parts = []
  const end = () => {
    replacement(changed.removed, changed.added).reduce(push, parts)
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

/** The operation that undoes another, which was applied to this text. */
const inverse = (parts, text) => {
  let at = 0
  return parts.reduce((/** @type {Operation} */ all, part) => {
    push(all, isInsertion(part) ? -part.length : part > 0 ? part : text.slice(at, at - part))
    at += covers(part)
    return all
  }, [])
}

/**
 * Two operations on one text, each as it is after the other. Of insertions at one place, the first operation's comes first.
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

/** One operation in the place of two, the second after the first. */
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
/** Where the last change of an operation ends in the text that it makes. */
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
export class History {
  /** What undoes each step, the last one first to be applied. */
  #done = []
  /** What does again each step that was undone. */
  #undone = []
  #size = 0
  /** Where and when typing goes on; null after anything else.
   * @type {{now: number, place: number, isRemoval: boolean} | null} */
  #typing = null

  add(before, after, now) {
    if (before === after) return
    const undo = inverse(replacement(before, after), before)
    const {start, end, text} = splice(before, after)
    const [isInsertion, isRemoval] = [start === end, !text]
    // Text that is typed without a line break, or removed character by character.
    const isSimple = isInsertion !== isRemoval && text !== "\n"
    const typing = this.#typing
    const goesOn = typing && isSimple && now - typing.now < PAUSE && typing.place === end && typing.isRemoval === isRemoval
    if (goesOn) {
      const last = this.#done.pop()
      this.#size -= sizeOf(last)
      this.#keep(compose(undo, last))
    } else this.#keep(undo)
    this.#typing = isSimple ? {now, place: start + text.length, isRemoval} : null
    this.#undone = []
  }

  #keep(parts) {
    this.#done.push(parts)
    this.#size += sizeOf(parts)
    while (this.#done.length > MAX_STEPS || this.#size > MAX_SIZE && this.#done.length > 1) {
      this.#size -= sizeOf(this.#done.shift())
    }
  }

  /** Takes another device's change of the text in. */
  transform(before, after) {
    const theirs = operation(before, after)
    if (!changes(theirs)) return
    this.#typing = null
    for (const steps of [this.#done, this.#undone]) {
      let rest = theirs
      for (let at = steps.length - 1; at >= 0; at--) [steps[at], rest] = transform(steps[at], rest)
    }
    this.#size = this.#done.reduce((sum, parts) => sum + sizeOf(parts), 0)
  }

  undo = text => this.#move(text, this.#done, this.#undone)
  redo = text => this.#move(text, this.#undone, this.#done)

  #move(text, from, to) {
    this.#typing = null
    // A step of which other devices have left nothing changes nothing.
    while (from.length) {
      const parts = from.pop()
      if (!changes(parts)) continue
      to.push(inverse(parts, text))
      return {text: apply(parts, text), caret: endOf(parts)}
    }
    return null
  }
}
