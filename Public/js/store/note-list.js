// Notes in the order of the list, found by words and tag; tags with how many notes have them. Positions are kept, not
// sorted anew at each look: 10,000 notes answer within a frame.
import {valueOf} from "../model/entity.js"
import {membersOf, resolve} from "../model/members.js"
import {foldName} from "../model/names.js"
import {haystackOf, matches, queryOf} from "../model/terms.js"
import {Memory, WHOLE} from "./memory.js"

/**
 * A note as the list needs it; `words` (the haystack) and `tags` (resolved) are null until somebody asks.
 * @typedef {{id: string, pinned: boolean, archived: boolean, sortDate: string, text: string, words: string | null,
 *   tags: string[] | null}} Row
 */
/** @typedef {{uniqueID: string, name: string, count: number}} Tag `count`: notes that have it and are not archived */

const FEW = 64 // changes that are put in place one by one; more are sorted together
const SLICE = 8 // ms of building haystacks at a time

/** @param {Row} a @param {Row} b pinned first, then newest, then by ID */
const compare = (a, b) => {
  if (a.pinned !== b.pinned) return a.pinned ? -1 : 1
  if (a.sortDate !== b.sortDate) return a.sortDate > b.sortDate ? -1 : 1
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0
}

export class NoteList {
  /** @type {Map<string, Row>} */
  #rows = new Map()
  /** @type {Row[]} */
  #order = []
  #isSorted = true
  /**
   * Live tags, and their folded names.
   * @type {Map<string, {name: string, folded: string}>}
   */
  #tags = new Map()
  /**
   * Other live objects that notes may have as members.
   * @type {Set<string>}
   */
  #others = new Set()
  /** @type {Map<string, number> | null} */
  #counts = null

  memory = new Memory()
  /** @param {string} id */
  isLive = id => this.#tags.has(id) || this.#others.has(id)

  /**
   * Takes in what was written. The IDs of the objects that look different now; null: any may.
   * @param {import("./transaction.js").Line[]} lines
   * @returns {Set<string> | null}
   */
  take(lines) {
    const isCleared = lines.some(line => line.key === null && !WHOLE.includes(line.store))
    /** @type {Set<string>} */
    const ids = isCleared ? this.memory.ids() : new Set()
    for (const line of lines) {
      const id = this.memory.take(line)
      if (id) ids.add(id)
    }
    // Nobody can be a member of what is made just now.
    const born = new Set(lines.filter(line => line.store === "made" && line.record).map(line => line.key))
    // What notes are members of comes first: they are counted by it.
    let isMoved = isCleared
    for (const id of ids) isMoved = (this.#updateMember(id) && !born.has(id)) || isMoved
    if (isMoved) this.#forgetMembers()
    for (const id of ids) this.#updateRow(id, ids.size > FEW)
    return isMoved ? null : ids
  }

  /** @param {string} id */
  #updateMember(id) {
    const entity = this.memory.entity(id)
    const wasLive = this.isLive(id)
    if (entity?.type === "tag") {
      const name = String(valueOf(entity, "name"))
      if (this.#tags.get(id)?.name !== name) this.#tags.set(id, {name, folded: foldName(name)})
    } else {
      this.#tags.delete(id)
    }
    if (entity && entity.type !== "tag" && entity.type !== "note") this.#others.add(id)
    else this.#others.delete(id)
    return this.isLive(id) !== wasLive || this.memory.deleted.get(id)?.mergedInto !== undefined
  }

  #forgetMembers() {
    this.#counts = null
    for (const row of this.#rows.values()) row.tags = null
  }

  /** @param {string} id @param {boolean} isMany */
  #updateRow(id, isMany) {
    const entity = this.memory.entity(id)
    const row = this.#rows.get(id)
    if (row) this.#count(row, -1)
    if (row && this.#isSorted && !isMany) this.#order.splice(this.#placeOf(row), 1)
    if (entity?.type !== "note") {
      if (!row) return
      this.#rows.delete(id)
      if (isMany) this.#isSorted = false
      return
    }
    const text = valueOf(entity, "text")
    const now = row ?? {id, pinned: false, archived: false, sortDate: "", text, words: null, tags: null}
    if (now.text !== text) now.words = null
    now.text = text
    now.pinned = valueOf(entity, "attributes.pinned") === true
    now.archived = valueOf(entity, "archived")
    now.sortDate = valueOf(entity, "sortDate")
    now.tags = null
    this.#rows.set(id, now)
    this.#count(now, 1)
    if (isMany) this.#isSorted = false
    else if (this.#isSorted) this.#order.splice(this.#placeOf(now), 0, now)
  }

  /**
   * Where a row is, or would be.
   * @param {Row} row
   */
  #placeOf(row) {
    let low = 0, high = this.#order.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (compare(this.#order[middle], row) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  #sorted() {
    if (!this.#isSorted) this.#order = [...this.#rows.values()].sort(compare)
    this.#isSorted = true
    return this.#order
  }

  /** @param {Row} row @param {number} by */
  #count(row, by) {
    if (!this.#counts || row.archived) return
    for (const tag of this.#tagsOf(row)) this.#counts.set(tag, (this.#counts.get(tag) ?? 0) + by)
  }

  /** @param {Row} row @returns {string[]} */
  #tagsOf(row) {
    return row.tags ??= this.members(row.id, "tags")
  }

  /**
   * Resolved members of a note.
   * @param {string} id @param {"tags" | "attachments"} kind @returns {string[]}
   */
  members(id, kind) {
    const entity = this.memory.known(id)
    return entity ? membersOf(entity, kind, this.memory.deleted, this.isLive) : []
  }

  /**
   * IDs of notes: pinned first, then newest; of a query or a tag those that have it. `archived` null: both.
   * @param {{query?: string, tag?: string | null, archived?: boolean | null}} filter
   * @returns {string[]}
   */
  notes({query = "", tag = null, archived = false}) {
    const wanted = query.trim() ? queryOf(query) : null
    const live = tag && this.resolve(tag)
    if (tag && !live) return []
    const found = []
    for (const row of this.#sorted()) {
      if (archived !== null && row.archived !== archived) continue
      if (live && !this.#tagsOf(row).includes(live)) continue
      if (wanted && !matches(wanted, row.words ??= haystackOf(row.text))) continue
      found.push(row.id)
    }
    return found
  }

  /**
   * The live tag or attachment that an ID stands for.
   * @param {string} id @returns {string | undefined}
   */
  resolve(id) {
    return resolve(id, this.memory.deleted, this.isLive) ?? undefined
  }

  /** @param {string} id @returns {Tag | undefined} */
  tag(id) {
    const live = this.resolve(id)
    const tag = live && this.#tags.get(live)
    return live && tag ? {uniqueID: live, name: tag.name, count: this.#counted().get(live) ?? 0} : undefined
  }

  /**
   * Live tags by their folded names.
   * @returns {Tag[]}
   */
  tags() {
    return [...this.#tags].sort(([a, one], [b, other]) => one.folded < other.folded ? -1 : one.folded > other.folded ? 1 : a < b ? -1 : 1)
      .map(([uniqueID, {name}]) => ({uniqueID, name, count: this.#counted().get(uniqueID) ?? 0}))
  }

  #counted() {
    if (!this.#counts) {
      this.#counts = new Map()
      for (const row of this.#rows.values()) this.#count(row, 1)
    }
    return this.#counts
  }

  /**
   * The live tag whose name folds to the same; of several, which the server will make one, the smallest ID.
   * @param {string} name
   */
  tagNamed(name) {
    const folded = foldName(name)
    let found
    for (const [id, tag] of this.#tags) if (tag.folded === folded && (!found || id < found)) found = id
    return found
  }

  /** Builds haystacks that a search would have to build, for a few ms. False when there are none left. */
  warm() {
    const end = performance.now() + SLICE
    for (const row of this.#sorted()) {
      if (row.words !== null) continue
      row.words = haystackOf(row.text)
      if (performance.now() > end) return true
    }
    return false
  }
}
