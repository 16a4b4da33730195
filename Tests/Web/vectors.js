// Checks the vectors for clients (Tests/Vectors), in Node's test runner and in a page. The caller passes the data.
// Cases for servers only (merging texts, rejecting clocks that are ahead) are skipped.
import {ClockSource, formatDate, makeClock, parseDate, partsOf} from "../../Public/js/model/clock.js"
import * as model from "../../Public/js/model/entity.js"
import {marksOf, withPaths, withoutMarks} from "../../Public/js/model/marks.js"
import {finderOf, foldCase, foldName, haystackOf, matchesOf, phraseOf, queryOf, termsOf} from "../../Public/js/model/search.js"

const write = value => JSON.stringify(value, (_, one) =>
  one && one.constructor === Object ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => a < b ? -1 : 1)) : one)

/** Throws if the two are not the same JSON, regardless of the order of members. */
const expect = (found, expected, what = "") => {
  const [a, b] = [write(found), write(expected)]
  if (a !== b) throw new Error(`${what} is ${a}, not ${b}`)
}

const expectMalformed = text => {
  try {
    partsOf(text)
  } catch (error) {
    if (error instanceof RangeError) return
    throw error
  }
  throw new Error(`${text} was accepted`)
}

const bytesOf = ({milliseconds, counter, node}) =>
  milliseconds.toString(16).padStart(12, "0") + counter.toString(16).padStart(4, "0") + node

const tickAll = ({node, steps}) => {
  let source = new ClockSource(node)
  for (const step of steps) {
    if ("tick" in step) expect(source.tick(parseDate(step.tick)), step.clock, "the tick")
    if ("observe" in step) source.observe(step.observe)
    if ("setBack" in step) {
      source = new ClockSource(node, {...source.saved, agreed: step.setBack})
      source.setBack()
    }
  }
}

const clocks = one => {
  if ("text" in one) {
    const parts = partsOf(one.text)
    expect(parts, {milliseconds: one.milliseconds, counter: one.counter, node: one.node}, "what is read")
    expect(makeClock(parts.milliseconds, parts.counter, parts.node), one.written ?? one.text, "what is written")
    expect(parseDate(formatDate(one.milliseconds)), one.milliseconds, "the date")
    expect(bytesOf(parts), one.bytes, "the bytes")
  } else if ("malformed" in one) {
    expectMalformed(one.malformed)
  } else if ("malformedNode" in one) {
    expectMalformed(`2026-11-21T08:47:12.345Z-0003-${one.malformedNode}`)
  } else if ("ascending" in one) {
    expect([...one.ascending].reverse().sort(), one.ascending, "the order")
    expect(one.ascending.map(partsOf).map(bytesOf).sort(), one.ascending.map(partsOf).map(bytesOf), "the order of bytes")
  } else if ("steps" in one) {
    tickAll(one)
  } else {
    return "server" // clocks as bytes, and clocks that are ahead
  }
}

/** The digest of a sync response's sections. */
const digestOf = changes => {
  let sum = model.ZERO
  for (const [section, list] of Object.entries(changes)) {
    for (const shown of list) {
      const isDeleted = section === "deletedObjects"
      const hash = isDeleted ? model.hashOfDeleted(shown) : model.hashOf(model.readState(section, shown))
      sum = model.xor(sum, hash)
    }
  }
  return sum
}

const folds = one => {
  // Order and repetitions must not matter.
  for (const edits of [one.edits, [...one.edits].reverse(), [...one.edits, ...one.edits]]) foldOnce(one, edits)
}

const foldOnce = (one, edits) => {
  const entities = new Map(), deleted = new Map()
  for (const gone of one.deletedObjects ?? []) {
    deleted.set(gone.uniqueID, model.foldDeleted(deleted.get(gone.uniqueID) ?? gone, gone))
  }
  for (const {uniqueID, objectType, attribute, value, clock} of edits) {
    const type = objectType ?? (attribute === "objectType" ? value : "")
    const edit = model.emptyEntity(uniqueID, type)
    if (clock) edit.registers[attribute] = [value, clock]
    else edit.fixed[attribute] = value
    const standing = entities.get(uniqueID) ?? model.emptyEntity(uniqueID, type)
    entities.set(uniqueID, standing)
    model.fold(standing, edit)
    if (model.fold(standing, edit)) throw new Error("folding twice changed something")
  }
  const changes = {}
  const isLive = id => !deleted.has(id) && entities.has(id) && model.exists(entities.get(id))
  for (const id of [...entities.keys()].filter(isLive).sort()) {
    const section = model.sectionOf(entities.get(id).type)
    ;(changes[section] ??= []).push(model.writeState(entities.get(id)))
  }
  if (deleted.size) changes.deletedObjects = [...deleted.values()].sort((a, b) => a.uniqueID < b.uniqueID ? -1 : 1)
  expect(changes, one.objects, "the fold")
  expect(digestOf(changes), one.digest, "the digest")
  for (const [id, members] of Object.entries(one.members ?? {})) {
    for (const kind of Object.keys(members)) {
      expect(model.membersOf(entities.get(id), kind, deleted, isLive), members[kind], kind)
    }
  }
}

const digests = one => {
  if (one.objects) return expect(digestOf(one.objects), one.digest, "the digest")
  const isDeleted = "deletionDate" in one.object
  const section = isDeleted ? "deletedObjects" : model.sectionOf(one.objectType)
  if (!isDeleted) expect(model.linesOf(model.readState(section, one.object)), one.lines, "the lines")
  expect(digestOf({[section]: [one.object]}), one.digest, "the digest")
}

/** The server merges. A client reads the result, and writes pushes that contain what it read. */
const pushes = one => {
  expect(digestOf(one.objects), one.digest, "the digest")
  for (const [section, list] of Object.entries(one.objects)) {
    for (const shown of section === "deletedObjects" ? [] : list) {
      const entity = model.readState(section, shown)
      expect(model.exists(entity), true, "exists")
      expect(model.writeState(entity), shown, "the read object")
      expect(model.readState(section, model.writeChange(entity)), entity, "the object after writing and reading it")
    }
  }
}

const tagNames = one => {
  expect(foldName(one.input), one.folded, "the folded name")
  expect(foldName(one.folded), one.folded, "the name folded again")
}

/** All Unicode scalars. Those in the table are folded, and others are unchanged. */
const caseFolding = table => {
  const text = codes => String.fromCodePoint(...codes.split(" ").map(code => parseInt(code, 16)))
  const folded = new Map(Object.entries(table).map(([code, codes]) => [text(code), text(codes)]))
  for (let code = 0; code <= 0x10ffff; code += code === 0xd7ff ? 0x801 : 1) {
    const scalar = String.fromCodePoint(code), found = foldCase(scalar)
    if (found !== (folded.get(scalar) ?? scalar)) expect(found, folded.get(scalar), code.toString(16))
  }
}

/** The app also finds parts of words (clients.md, Search), which servers do not. */
const PARTS_OF_WORDS = ["match: not inside a word"]
/** It marks what was typed, servers the rest of a long word too. */
const LONG_WORDS = ["match: words longer than 64 bytes"]

const searchTerms = one => {
  if (one.terms) return expect(termsOf(one.text), one.terms, "the terms")
  const query = queryOf(one.query)
  const {parts, problem} = query
  if ("matches" in one) {
    const isFound = finderOf(query, [])({
      text: one.text, haystack: haystackOf(one.text), pinned: false, archived: false, tags: () => [], hasFile: () => false})
    expect(isFound, one.matches || PARTS_OF_WORDS.includes(one.name), "the match")
    if (!one.matches || LONG_WORDS.includes(one.name)) return
    const ranges = one.snippet.ranges.map(({location, length}) => [location, location + length])
    return expect(matchesOf(query, one.snippet.text), ranges, "the ranges")
  }
  if (one.error) return expect(problem, one.error, "the problem")
  const phrase = terms => terms.map((text, i) => ({text, isPrefix: i === terms.length - 1}))
  const words = parts.filter(({kind}) => kind === "words")
  expect(words.map(({value}) => phrase(phraseOf(value))), one.phrases, "the phrases")
}

/** The attachment of the cases, which an export has as "Attachments/Rome 2.png". */
const EXPORTED = "c9a646d3-9c61-4cb7-bfcd-ee2522c8f633"

const marks = ({text, exported, plain}) => {
  expect(withPaths(text, id => id === EXPORTED ? "Attachments/Rome 2.png" : undefined), exported, "the exported text")
  expect(withoutMarks(text), plain, "the text without marks")
  expect(marksOf(text).length > 0, exported !== text, "whether there are marks")
}

const CHECKS = {
  clocks, folds, digests, marks, pushes, "tag-names": tagNames, "case-folding": caseFolding, "search-terms": searchTerms,
}

/** The names of the files in Tests/Vectors that `check` supports, without `.json`. */
export const KINDS = Object.keys(CHECKS)

/**
 * Runs all cases of a file. `skipped` counts the cases for servers only. A failure has the case's name and the problem.
 * Callers should check that `passed` is not zero.
 * @param {string} kind one of KINDS
 * @param {any} data the parsed file
 * @returns {{passed: number, skipped: number, failures: {name: string, problem: string}[]}}
 */
export const check = (kind, data) => {
  const result = {passed: 0, skipped: 0, failures: []}
  for (const one of Array.isArray(data) ? data : [data]) {
    try {
      if (CHECKS[kind](one) === "server") result.skipped++
      else result.passed++
    } catch (error) {
      result.failures.push({name: one.name ?? kind, problem: String(error)})
    }
  }
  return result
}
