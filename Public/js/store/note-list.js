// Notes in the order of the list, found by words and tag; tags and how many notes have them. It is kept, not worked out
// anew at each look: 10,000 notes answer within a frame.
import {membersOf, resolve, valueOf} from "../model/entity.js"
import {foldName, haystackOf, matches, queryOf} from "../model/terms.js"
import {Memory, WHOLE} from "./memory.js"


const SLICE = 8 // ms of building haystacks at a time

/**
 * Pinned first, then newest.
 * @type {(a: ListRow, b: ListRow) => number}
 */
const compare = (a, b) => {
  if (a.pinned !== b.pinned) return a.pinned ? -1 : 1
  if (a.sortDate !== b.sortDate) return a.sortDate > b.sortDate ? -1 : 1
  return a.id < b.id ? -1 : 1
}

export class NoteList {
  memory = new Memory()
  /** @type {Map<string, ListRow>} */
  #rows = new Map()
  /** @type {ListRow[]} */
  #order = []
  /**
   * Rows that are not in their place in `#order`.
   * @type {Set<ListRow>}
   */
  #moved = new Set()
  /**
   * Live objects that are no notes; of tags the folded name.
   * @type {Map<string, string | null>}
   */
  #live = new Map()
  /** @type {Map<string, number> | null} */
  #counts = null

  /** @param {string} id */
  #isLive = id => this.#live.has(id)

  /**
   * Takes in what was written. IDs of what looks different now; null: anything may.
   * @type {(lines: JournalLine[]) => Set<string> | null}
   */
  take(lines) {
    const isCleared = lines.some(({store, key}) => key === null && !WHOLE.includes(store))
    const ids = isCleared ? this.memory.ids() : new Set(/** @type {string[]} */ ([]))
    for (const line of lines) {
      const id = this.memory.take(line)
      if (id) ids.add(id)
    }
    // Nobody is a member yet of what is made just now.
    const born = new Set(lines.filter(({store, record}) => store === "made" && record).map(({key}) => key))
    let isMoved = isCleared
    for (const id of ids) isMoved = this.#takeMember(id) && !born.has(id) || isMoved
    if (isMoved) for (const row of this.#rows.values()) row.tags = null
    for (const id of ids) this.#takeNote(id)
    this.#counts = null
    return isMoved ? null : ids
  }

  /**
   * Whether notes may have other members now.
   * @type {(id: string) => boolean}
   */
  #takeMember(id) {
    const entity = this.memory.entity(id), wasLive = this.#live.has(id)
    const name = entity?.type === "tag" ? foldName(valueOf(entity, "name")) : null
    if (entity && entity.type !== "note") this.#live.set(id, name)
    else this.#live.delete(id)
    return this.#live.has(id) !== wasLive || !!this.memory.deleted.get(id)?.mergedInto
  }

  /** @type {(id: string) => void} */
  #takeNote(id) {
    const entity = this.memory.entity(id), standing = this.#rows.get(id)
    if (entity?.type !== "note") {
      if (standing && this.#rows.delete(id)) this.#moved.add(standing)
      return
    }
    const text = valueOf(entity, "text"), pinned = valueOf(entity, "attributes.pinned") === true
    const archived = valueOf(entity, "archived"), sortDate = valueOf(entity, "sortDate")
    const row = standing ?? {id, pinned, archived, sortDate, text, words: null, tags: null}
    if (!standing || row.pinned !== pinned || row.sortDate !== sortDate) this.#moved.add(row)
    Object.assign(row, {pinned, archived, sortDate, text, tags: null}, row.text !== text && {words: null})
    this.#rows.set(id, row)
  }

  #sorted() {
    if (!this.#moved.size) return this.#order
    const moved = [...this.#moved].filter(row => this.#rows.get(row.id) === row).sort(compare)
    // Two runs in order: sorting them is one pass.
    this.#order = [...this.#order.filter(row => !this.#moved.has(row)), ...moved].sort(compare)
    this.#moved.clear()
    return this.#order
  }

  /**
   * Resolved.
   * @type {(id: string, kind: "tags" | "attachments") => string[]}
   */
  members(id, kind) {
    const entity = this.memory.known(id)
    return entity ? membersOf(entity, kind, this.memory.deleted, this.#isLive) : []
  }

  /**
   * The live tag or attachment that an ID stands for.
   * @type {(id: string) => string | null}
   */
  resolve(id) {
    return resolve(id, this.memory.deleted, this.#isLive)
  }

  /** @type {(row: ListRow) => string[]} */
  #tagsOf(row) {
    return row.tags ??= this.members(row.id, "tags")
  }

  /**
   * IDs, pinned first, then newest; `archived` null: both.
   * @type {(filter?: {query?: string, tag?: string | null, archived?: boolean | null}) => string[]}
   */
  notes({query = "", tag = null, archived = false} = {}) {
    const live = tag && this.resolve(tag), wanted = query.trim() && queryOf(query)
    const rows = this.#sorted().filter(row => (archived === null || row.archived === archived)
      && (!tag || live && this.#tagsOf(row).includes(live))
      && (!wanted || matches(wanted, row.words ??= haystackOf(row.text))))
    return rows.map(row => row.id)
  }

  /** @type {(id: string) => Tag | undefined} */
  tag(id) {
    const uniqueID = this.resolve(id), entity = uniqueID && this.memory.entity(uniqueID)
    if (!entity || entity.type !== "tag") return undefined
    if (!this.#counts) {
      this.#counts = new Map()
      for (const row of this.#rows.values()) {
        if (!row.archived) for (const tag of this.#tagsOf(row)) this.#counts.set(tag, (this.#counts.get(tag) ?? 0) + 1)
      }
    }
    return {uniqueID, name: valueOf(entity, "name"), count: this.#counts.get(uniqueID) ?? 0}
  }

  /**
   * By their folded names.
   * @type {() => Tag[]}
   */
  tags() {
    const names = [...this.#live].flatMap(([id, name]) => name === null ? [] : [{id, name}])
    names.sort((a, b) => a.name < b.name || a.name === b.name && a.id < b.id ? -1 : 1)
    return names.flatMap(({id}) => this.tag(id) ?? [])
  }

  /**
   * The tag of this name in any case; of several, which the server will make one, that which survives.
   * @type {(name: string) => string | undefined}
   */
  tagNamed(name) {
    const folded = foldName(name)
    return [...this.#live].filter(one => one[1] === folded).map(([id]) => id).sort()[0]
  }

  /** Builds haystacks for some ms, before a search has to. Whether there are more to build. */
  warm() {
    const end = performance.now() + SLICE
    for (const row of this.#sorted()) {
      if (performance.now() > end) return true
      row.words ??= haystackOf(row.text)
    }
    return false
  }
}
