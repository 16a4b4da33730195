// What a tab has in memory: all but bytes, as it is on the disk, and what of it a person sees. The list is kept, not worked
// out anew at each look: 10,000 notes answer within a frame.
import {exists, fold, membersOf, resolve, valueOf} from "../model/entity.js"
import {foldName, haystackOf, matches, queryOf} from "../model/terms.js"

/** Stores that a tab reads again whole; of the others the objects that changed. */
export const WHOLE = ["shelf", "notices", "meta"]
const SLICE = 8 // ms of building haystacks at a time

/** @type {(a: ListRow, b: ListRow) => number} */
const compare = (a, b) => {
  if (a.pinned !== b.pinned) return a.pinned ? -1 : 1
  if (a.sortDate !== b.sortDate) return a.sortDate > b.sortDate ? -1 : 1
  return a.id < b.id ? -1 : 1
}

export class NoteList extends EventTarget {
  /** @type {Memory} */
  memory = {
    objects: new Map(), deleted: new Map(), unsent: new Map(), made: new Map(), deletions: new Map(), bytes: new Map(),
    shelf: new Map(), notices: new Map(), meta: new Map(),
  }
  /** @type {Map<string, ListRow>} */
  #rows = new Map()
  /** @type {ListRow[]} */
  #order = []
  /** @type {Set<ListRow>} those that are not in their place in `#order` */
  #moved = new Set()
  /** @type {Map<string, string>} live objects that are no notes; of tags the folded name, else "" */
  #live = new Map()
  /** @type {Map<string, number> | null} */
  #counts = null

  #isLive = id => this.#live.has(id)

  /**
   * Takes in what was written. IDs of what looks different now; null: anything may.
   * @param {JournalLine[]} lines
   */
  take(lines) {
    const isCleared = lines.some(({store, key}) => key === null && !WHOLE.includes(store))
    const ids = isCleared ? this.#ids() : new Set()
    for (const line of lines) this.#takeLine(line, ids)
    // Nobody is a member yet of what is made just now.
    const born = new Set(lines.filter(({store, record}) => store === "made" && record).map(({key}) => key))
    let isMoved = isCleared
    for (const id of ids) isMoved = this.#takeMember(id) && !born.has(id) || isMoved
    if (isMoved) for (const row of this.#rows.values()) row.tags = null
    for (const id of ids) this.#takeNote(id)
    this.#counts = null
    return isMoved ? null : ids
  }

  /** @param {JournalLine} line @param {Set<unknown>} ids */
  #takeLine({store, key, record}, ids) {
    const map = this.memory[store]
    if (key === null) return map.clear()
    const [id, attribute] = [key].flat()
    if (!WHOLE.includes(store)) ids.add(id)
    if (store === "bytes") record &&= true
    if (store === "unsent") {
      // An array is all that is unsent of the object.
      const edits = new Map(attribute ? map.get(id) : [])
      for (const edit of attribute ? [record] : record) edit ? edits.set(edit.attribute, edit) : edits.delete(attribute)
      record = edits.size ? edits : undefined
    }
    record ? map.set(id, record) : map.delete(id)
  }

  /** Whether notes may have other members now. */
  #takeMember(id) {
    const entity = this.entity(id), wasLive = this.#isLive(id)
    if (entity && entity.type !== "note") this.#live.set(id, foldName(entity.registers.name?.[0] ?? ""))
    else this.#live.delete(id)
    return this.#isLive(id) !== wasLive || !!this.memory.deleted.get(id)?.mergedInto
  }

  #takeNote(id) {
    const entity = this.entity(id), standing = this.#rows.get(id)
    this.#rows.delete(id)
    if (standing) this.#moved.add(standing)
    if (entity?.type !== "note") return
    const text = valueOf(entity, "text"), words = standing && standing.text === text ? standing.words : null
    const pinned = valueOf(entity, "attributes.pinned") === true, archived = valueOf(entity, "archived")
    const row = {id, pinned, archived, sortDate: valueOf(entity, "sortDate"), text, words, tags: null}
    this.#rows.set(id, row)
    this.#moved.add(row)
  }

  #sorted() {
    if (this.#moved.size) {
      const moved = [...this.#moved].filter(row => this.#rows.get(row.id) === row).sort(compare)
      // Two runs in order: sorting them is one pass.
      this.#order = [...this.#order.filter(row => !this.#moved.has(row)), ...moved].sort(compare)
      this.#moved.clear()
    }
    return this.#order
  }

  #ids() {
    return new Set([...this.memory.objects.keys(), ...this.toSend()])
  }

  /** IDs of that of which something is to be sent. */
  toSend() {
    const {unsent, made, deletions} = this.memory
    return new Set([...unsent.keys(), ...made.keys(), ...deletions.keys()])
  }

  /** @type {LocalCopy["known"]} */
  known(id) {
    const {memory} = this, stored = memory.objects.get(id), made = memory.made.get(id), unsent = memory.unsent.get(id)
    if (!made && !unsent) return stored
    const edits = [...unsent?.values() ?? []], {type} = stored ?? made ?? edits[0]
    /** @type {Entity["registers"]} */
    const registers = Object.fromEntries(edits.map(({attribute, value, clock}) => [attribute, [value, clock]]))
    const folded = {uniqueID: id, type, fixed: {...stored?.fixed}, registers: {...stored?.registers}}
    fold(folded, {...folded, fixed: made?.fixed ?? {}, registers})
    // Not by its clock: while text is unsent it is left alone (clients.md, rule 3).
    if (registers.text) folded.registers.text = registers.text
    return folded
  }

  /** @type {LocalCopy["entity"]} */
  entity(id) {
    const {deleted, deletions} = this.memory, isGone = deleted.has(id) || deletions.has(id)
    const entity = isGone ? undefined : this.known(id)
    return entity && exists(entity) ? entity : undefined
  }

  * entities() {
    for (const id of this.#ids()) {
      const entity = this.entity(id)
      if (entity) yield entity
    }
  }

  resolve(id) {
    return resolve(id, this.memory.deleted, this.#isLive)
  }

  members(id, kind) {
    const entity = this.known(id)
    return entity ? membersOf(entity, kind, this.memory.deleted, this.#isLive) : []
  }

  #tagsOf(row) {
    return row.tags ??= this.members(row.id, "tags")
  }

  notes({query = "", tag = null, archived = false} = {}) {
    const live = tag && this.resolve(tag), wanted = query.trim() && queryOf(query)
    return this.#sorted().filter(row => (archived === null || row.archived === archived)
      && (!tag || live && this.#tagsOf(row).includes(live))
      && (!wanted || matches(wanted, row.words ??= haystackOf(row.text)))).map(row => row.id)
  }

  tag(id) {
    const uniqueID = this.resolve(id) ?? "", entity = this.entity(uniqueID)
    if (entity?.type !== "tag") return undefined
    if (!this.#counts) {
      this.#counts = new Map()
      for (const row of this.#rows.values()) {
        if (!row.archived) for (const tag of this.#tagsOf(row)) this.#counts.set(tag, (this.#counts.get(tag) ?? 0) + 1)
      }
    }
    return {uniqueID, name: valueOf(entity, "name"), count: this.#counts.get(uniqueID) ?? 0}
  }

  tags() {
    const names = [...this.#live].sort(([a, one], [b, other]) => one < other || one === other && a < b ? -1 : 1)
    return names.flatMap(([id]) => this.tag(id) ?? [])
  }

  tagNamed(name) {
    const folded = foldName(name)
    return [...this.#live].flatMap(([id, one]) => folded && one === folded ? id : []).sort()[0]
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
