// All that a client reads and writes (clients.md, rules 1 and 2), and what is done inside of transactions.
import {
  ClockSource, ZERO, derivedID, exists, fold, foldDeleted, formatDate, hashOf, hashOfDeleted, hashOfFile, membersOf,
  newID, rawMembers, registersOf, resolve, utf8, valueOf, writeState, xor,
} from "../model/entity.js"
import {excerptOf, foldName, haystackOf, matches, queryOf, rebase, splice, titleOf} from "../model/text.js"
import {ALL_STORES, Database, FIRST, StoreError, TAGS} from "./database.js"

const HOLD = 10_000 // ms
export const MOST_NAMED = 16 // texts that another descends from
const SLICE = 8 // ms of building haystacks at a time
const WRITTEN = ["shelf", "notices", "meta", "objects", "deleted", "unsent", "made", "deletions"]

const whenIdle = globalThis.requestIdleCallback ?? (task => setTimeout(task, 50))
const withKeys = map => Array.from(map, ([key, record]) => ({key, ...record}))

const check = (isRight, slug) => {
  if (!isRight) throw new StoreError(slug)
}

const placeOf = entity => {
  if (entity.type !== "note") return entity.type === "tag" ? TAGS : undefined
  const rank = valueOf(entity, "archived") ? 1e15 : valueOf(entity, "attributes.pinned") === true ? -1e15 : 0
  return rank - (Date.parse(valueOf(entity, "sortDate")) || 0)
}

/** @type {Records["clockIn"]} */
export const clockIn = tx => tx.clock ??= (async () => {
  const [session, saved] = await Promise.all([tx.get("meta", "session"), tx.get("meta", "clock")])
  if (!session) throw new StoreError("signed-out")
  const clock = new ClockSource(session.device.uniqueID, saved)
  tx.atEnd.push(() => tx.put("meta", clock.saved, "clock"))
  return clock
})()

/** @type {Records["edit"]} */
export const edit = async (tx, type, uniqueID, attribute, value) => {
  const clock = (await clockIn(tx)).tick(Date.now())
  tx.put("unsent", {uniqueID, attribute, type, value, clock, ...attribute === "text" && {after: []}})
  return clock
}

/** @type {Records["stampAgain"]} */
export const stampAgain = async tx => {
  const clock = await clockIn(tx), edits = await tx.getAll("unsent")
  clock.setBack()
  for (const one of edits.sort((a, b) => a.clock < b.clock ? -1 : 1)) {
    tx.put("unsent", {...one, clock: clock.tick(Date.now())})
  }
}

/** @type {Records["makeNote"]} */
export const makeNote = async (tx, uniqueID, note) => {
  const {creationDate, text, sortDate, archived, attributes} = note
  const known = await Promise.all(["objects", "deleted", "made"].map(store => tx.get(store, uniqueID)))
  if (known.some(Boolean)) return false
  const now = (await clockIn(tx)).now(Date.now())
  tx.put("made", {uniqueID, type: "note", fixed: {creationDate: creationDate ?? formatDate(now)}})
  const values = {text: text || undefined, sortDate, archived: archived || undefined}
  for (const kind of ["tags", "attachments"]) for (const id of note[kind] ?? []) values[`${kind}.${id}`] = true
  for (const name in attributes) values[`attributes.${name}`] = attributes[name]
  for (const name in values) if (values[name] !== undefined) await edit(tx, "note", uniqueID, name, values[name])
  return true
}

/** @type {Records["rescueIn"]} */
export const rescueIn = async (tx, {uniqueID, creationDate, tags, attachments}, text) => {
  const into = derivedID(uniqueID, text)
  const isMade = await makeNote(tx, into, {creationDate, text, tags, attachments})
  if (isMade) tx.put("notices", {kind: "rescued", uniqueID, into, mine: text, moment: Date.now()})
  return into
}

/** @type {Records["rescueOf"]} */
export const rescueOf = async (get, id, steps = 9) => {
  const into = (await get(id))?.rescuedInto
  return into && steps && await get(into) ? rescueOf(get, into, steps - 1) : into
}

const count = (tx, ...hashes) => {
  if (!tx.digest) {
    tx.atEnd.push(async () => {
      const sync = await tx.get("meta", "sync")
      tx.put("meta", {...sync, digest: xor(sync?.digest ?? ZERO, tx.digest)}, "sync")
    })
  }
  for (const hash of hashes) tx.digest = xor(tx.digest || ZERO, hash || ZERO)
}

const put = (tx, before, now) => {
  const isThere = exists(now)
  now.hash = isThere ? hashOf(now) : ""
  const place = isThere && placeOf(now)
  if (place) now.place = place
  count(tx, before?.hash, now.hash)
  tx.put("objects", now)
}

/** @type {Records["putEntity"]} */
export const putEntity = async (tx, incoming) => {
  const id = incoming.uniqueID
  const [dead, before] = await Promise.all([tx.get("deleted", id), tx.get("objects", id)])
  if (dead) return {}
  const {type, fixed, registers} = before ?? incoming
  const now = {...before, uniqueID: id, type, fixed: {...fixed}, registers: {...registers}}
  if (!before || fold(now, incoming)) put(tx, before, now)
  return {before, now}
}

/** @type {Records["replaceEntity"]} */
export const replaceEntity = async (tx, now) => put(tx, await tx.get("objects", now.uniqueID), {...now})

/** @type {Records["putDeleted"]} */
export const putDeleted = async (tx, incoming) => {
  const id = incoming.uniqueID
  const [standing, before] = await Promise.all([tx.get("deleted", id), tx.get("objects", id)])
  const folded = standing ? foldDeleted(standing, incoming) : incoming
  const hash = hashOfDeleted(folded)
  count(tx, before?.hash, standing?.hash, hash)
  if (before) tx.delete("objects", id)
  if (standing?.hash !== hash || standing.rescuedInto !== folded.rescuedInto) tx.put("deleted", {...folded, hash})
  return {before}
}

/** @type {Records["forget"]} */
export const forget = async (tx, id) => {
  for (const {attribute} of await tx.getAllBy("unsent", "uniqueID", id)) tx.delete("unsent", [id, attribute])
  if (await tx.get("made", id)) tx.delete("made", id)
}

/** What a person has seen of a note's text: its own words, and what they were written over. */
const seenIn = (text, held) => text
  ? {textSeen: text.base ?? "", textAfter: [...new Set([...text.after ?? [], text.clock])].slice(-MOST_NAMED)}
  : {textSeen: held?.registers.text?.[1] ?? "", textAfter: []}

/** @type {Records["takeDeletions"]} */
export const takeDeletions = async (tx, wallMs) => {
  const due = (await tx.getAll("deletions")).filter(one => one.heldUntil <= wallMs)
  for (const deletion of due.filter(one => one.heldUntil)) {
    tx.put("deletions", {...deletion, heldUntil: 0})
    await forget(tx, deletion.uniqueID)
  }
  return due.map(({heldUntil, ...deletedObject}) => deletedObject)
}

/** @implements {LocalCopy} */
export class Copy extends Database {
  #rows = new Map()
  #isSorted = true
  #live = new Map() // objects that are no notes; of tags the folded name
  #counts
  /** @type {Promise<any>} */
  #attaching = Promise.resolve()

  static async open(name = "hesper") {
    const copy = new Copy()
    await copy.open(name)
    return copy
  }

  take(lines) {
    const ids = super.take(lines)
    const isMoved = [...ids].filter(id => this.#takeObject(id)).length
    if (isMoved) for (const row of this.#rows.values()) row.tags = null
    this.#counts = undefined
    if (ids.size > FIRST) whenIdle(this.#warm)
    return isMoved ? null : ids
  }

  #takeObject(id) {
    const entity = this.entity(id), standing = this.#rows.get(id), wasLive = this.#live.delete(id)
    if (entity?.type === "note") {
      const text = valueOf(entity, "text"), words = standing?.text === text ? standing.words : null
      const place = `${+(valueOf(entity, "attributes.pinned") === true)} ${valueOf(entity, "sortDate")} ${id}`
      this.#rows.set(id, {id, place, archived: valueOf(entity, "archived"), text, words, tags: null})
      if (standing?.place !== place) this.#isSorted = false
    } else {
      this.#rows.delete(id)
      if (entity) this.#live.set(id, entity.type === "tag" ? foldName(valueOf(entity, "name")) : "")
    }
    return this.#isLive(id) !== wasLive || this.memory.deleted.get(id)?.mergedInto
  }

  #isLive = id => this.#live.has(id)

  #sorted() {
    const rows = [...this.#rows.values()]
    if (!this.#isSorted) this.#rows = new Map(rows.sort((a, b) => a.place > b.place ? -1 : 1).map(row => [row.id, row]))
    this.#isSorted = true
    return rows
  }

  #warm = () => {
    const end = performance.now() + SLICE
    for (const row of this.#sorted()) {
      if (performance.now() > end) return whenIdle(this.#warm)
      row.words ??= haystackOf(row.text)
    }
  }

  get session() {
    return this.memory.meta.get("session") ?? null
  }

  get limits() {
    return this.memory.meta.get("limits") ?? {}
  }

  settings = {
    get: (name, otherwise) => this.memory.meta.get("settings")?.[name] ?? otherwise,
    set: (name, value) => this.#change(async tx => {
      tx.put("meta", {...await tx.get("meta", "settings"), [name]: value}, "settings")
    }),
  }

  toSend() {
    const {unsent, made, deletions} = this.memory
    return new Set([...unsent.keys(), ...made.keys(), ...deletions.keys()])
  }

  known(id) {
    const {objects, made, unsent} = this.memory, stored = objects.get(id), own = made.get(id)
    const edits = [...unsent.get(id)?.values() ?? []], registers = registersOf(edits)
    if (!own && !edits.length) return stored
    const {type} = stored ?? own ?? edits[0]
    const folded = {uniqueID: id, type, fixed: {...stored?.fixed}, registers: {...stored?.registers}}
    fold(folded, {...folded, fixed: own?.fixed ?? {}, registers})
    // While text is unsent it is left alone (clients.md, rule 3).
    if (registers.text) folded.registers.text = registers.text
    return folded
  }

  entity(id) {
    const {deleted, deletions} = this.memory, entity = deleted.has(id) || deletions.has(id) ? null : this.known(id)
    return entity && exists(entity) ? entity : undefined
  }

  * entities() {
    for (const id of new Set([...this.memory.objects.keys(), ...this.toSend()])) {
      const entity = this.entity(id)
      if (entity) yield entity
    }
  }

  resolve = id => resolve(id, this.memory.deleted, this.#isLive)
  members = (id, kind) => membersOf(this.known(id), kind, this.memory.deleted, this.#isLive)

  #tagsOf(row) {
    return row.tags ??= this.members(row.id, "tags")
  }

  note(id) {
    const entity = this.entity(id)
    if (entity?.type !== "note") return undefined
    const {clocks, ...state} = writeState(entity), {text, attributes} = state
    return {
      ...state, title: titleOf(text), excerpt: excerptOf(text), pinned: attributes.pinned === true,
      tags: this.members(id, "tags"), attachments: this.members(id, "attachments"), textClock: clocks.text ?? null,
      isUnsent: this.memory.unsent.has(id) || this.memory.made.has(id),
    }
  }

  notes({query = "", tag = null, archived = false} = {}) {
    const live = tag && this.resolve(tag), wanted = query.trim() && queryOf(query)
    return this.#sorted().filter(row => (archived === null || row.archived === archived)
      && (!tag || live && this.#tagsOf(row).includes(live))
      && (!wanted || matches(wanted, row.words ??= haystackOf(row.text)))).map(row => row.id)
  }

  tag(id) {
    const entity = this.entity(this.resolve(id))
    if (entity?.type !== "tag") return undefined
    const {uniqueID} = entity
    if (!this.#counts) {
      this.#counts = {}
      for (const row of this.#rows.values()) {
        if (!row.archived) for (const tag of this.#tagsOf(row)) this.#counts[tag] = (this.#counts[tag] ?? 0) + 1
      }
    }
    return {uniqueID, name: valueOf(entity, "name"), count: this.#counts[uniqueID] ?? 0}
  }

  tags() {
    const names = [...this.#live].sort(([a, one], [b, other]) => `${one}\0${a}` < `${other}\0${b}` ? -1 : 1)
    return names.flatMap(([id]) => this.tag(id) ?? [])
  }

  tagNamed(name) {
    const folded = foldName(name)
    return [...this.#live.keys()].filter(id => folded && this.#live.get(id) === folded).sort()[0]
  }

  attachment(id) {
    const {bytes, made} = this.memory, entity = this.entity(this.resolve(id) ?? id)
    if (entity?.type !== "attachment") return undefined
    const {uniqueID, fixed} = entity
    return {...fixed, uniqueID, isHere: bytes.has(uniqueID), isUnsent: made.has(uniqueID)}
  }

  bytes = async id => (await this.transaction(["bytes"], "readonly", tx => tx.get("bytes", id)))?.blob
  unsentCount = () => this.toSend().size

  heldCount() {
    const {unsent, made} = this.memory
    const isHeld = id => made.get(id)?.held || [...unsent.get(id)?.values() ?? []].some(one => one.held)
    return [...this.toSend()].filter(isHeld).length
  }

  nextDeletion = () => Math.min(...Array.from(this.memory.deletions.values(), one => one.heldUntil || Infinity))
  shelf = () => withKeys(this.memory.shelf)
  notices = () => withKeys(this.memory.notices)

  #change(body, stores = WRITTEN) {
    return this.transaction(stores, "readwrite", body, "here")
  }

  #found(id, type = "") {
    const entity = this.entity(id)
    if (entity && (!type || entity.type === type)) return entity
    throw new StoreError(this.known(id) || this.memory.deleted.has(id) ? "gone" : "missing")
  }

  #checkSize(text, limit) {
    check(!(utf8(text).length > this.limits[limit]), "too-large")
  }

  #checkName(name) {
    const trimmed = name.trim()
    check(trimmed, "invalid")
    this.#checkSize(trimmed, "tagNameBytes")
    return trimmed
  }

  async #set(type, ids, attribute, value) {
    const others = ids.filter(id => valueOf(this.#found(id, type), attribute) !== value)
    if (others.length) await this.#change(tx => Promise.all(others.map(id => edit(tx, type, id, attribute, value))))
  }

  setArchived = (ids, archived) => this.#set("note", ids, "archived", archived)
  setSortDate = (id, date) => this.#set("note", [id], "sortDate", date)
  setAttribute = (id, name, value) => this.#set("note", [id], `attributes.${name}`, value)
  renameTag = async (id, name) => this.#set("tag", [id], "name", this.#checkName(name))

  createNote = async (note = {}) => (await this.createNotes([note]))[0]

  async createNotes(notes) {
    for (const {text = ""} of notes) this.#checkSize(text, "textBytes")
    const ids = notes.map(note => note.uniqueID ?? newID())
    await this.#change(async tx => {
      for (const [at, note] of notes.entries()) await makeNote(tx, ids[at], note)
    })
    return ids
  }

  async write(id, text, base) {
    this.#checkSize(text, "textBytes")
    return this.#change(async tx => {
      const [standing, dead] = await Promise.all([tx.get("unsent", [id, "text"]), tx.get("deleted", id)])
      check(!dead, "gone")
      if (text === (standing ?? base).value) return (standing ?? base).clock
      const clock = (await clockIn(tx)).tick(Date.now())
      const value = !standing || standing.value === base.value ? text : rebase(base.value, text, standing.value)
      if (value === null) {
        const {start, end, text: words} = splice(text, standing.value)
        const superseded = [{text: words, location: start, length: end - start}]
        tx.put("notices", {kind: "merged", uniqueID: id, superseded, clock, moment: Date.now()})
      }
      const descent = standing
        ?? {after: [], ...base.clock && {base: base.clock, baseValue: base.value, isMoved: base.isMoved}}
      tx.put("unsent", {...descent, uniqueID: id, attribute: "text", type: "note", value: value ?? text, clock, held: false})
      return clock
    })
  }

  async rescue(note, text) {
    this.#checkSize(text, "textBytes")
    return this.#change(tx => rescueIn(tx, note, text))
  }

  rescueOf = id => rescueOf(async key => this.memory.deleted.get(key), id)

  async setMember(note, kind, member, isIn) {
    this.#found(note, "note")
    const id = this.resolve(member) ?? member, isThere = this.members(note, kind).includes(id)
    if (isThere !== isIn) await this.#change(tx => edit(tx, "note", note, `${kind}.${id}`, isIn))
  }

  addTag = (note, tag) => this.setMember(note, "tags", tag, true)
  removeTag = (note, tag) => this.setMember(note, "tags", tag, false)
  reattach = (note, attachment) => this.setMember(note, "attachments", attachment, true)
  detach = (note, attachment) => this.setMember(note, "attachments", attachment, false)

  async createTag(name) {
    const trimmed = this.#checkName(name), standing = this.tagNamed(trimmed), uniqueID = newID()
    if (standing) return standing
    await this.#change(tx => {
      tx.put("made", {uniqueID, type: "tag", fixed: {}})
      return edit(tx, "tag", uniqueID, "name", trimmed)
    })
    return uniqueID
  }

  attach(note, blob, properties = {}) {
    // One after the other: two of the same are seen.
    return this.#attaching = this.#attaching.catch(() => {}).then(() => this.#attach(note, blob, properties))
  }

  async #attach(note, file, {mimeType = file.type || "application/octet-stream", uniqueID = newID(), ...properties}) {
    const entity = this.#found(note, "note")
    check(!(file.size > this.limits.attachmentBytes), "too-large")
    // Not the file itself: that may change on the disk.
    const bytes = await file.arrayBuffer(), sha256 = await hashOfFile(bytes)
    const all = rawMembers(entity, "attachments").map(({id}) => this.attachment(id))
    const held = all.find(one => one?.sha256 === sha256)
    if (held) {
      await this.reattach(note, held.uniqueID)
      return held.uniqueID
    }
    const fixed = JSON.parse(JSON.stringify({mimeType, ...properties, byteCount: file.size, sha256}))
    await this.#change(tx => {
      tx.put("made", {uniqueID, type: "attachment", fixed, needsBytes: true})
      tx.put("bytes", {uniqueID, blob: new Blob([bytes], {type: mimeType}), lastUse: Date.now()})
      return edit(tx, "note", note, `attachments.${uniqueID}`, true)
    }, [...WRITTEN, "bytes"])
    return uniqueID
  }

  async remove(id) {
    const {type: objectType} = this.#found(id), deletion = {uniqueID: id, objectType, heldUntil: Date.now() + HOLD}
    await this.#change(async tx => {
      const [text, held] = await Promise.all([tx.get("unsent", [id, "text"]), tx.get("objects", id)])
      tx.put("deletions", objectType === "note" ? {...deletion, ...seenIn(text, held)} : deletion)
    })
  }

  undoRemove = id => this.#change(async tx => {
    const held = (await tx.get("deletions", id))?.heldUntil
    if (held) tx.delete("deletions", id)
    return !!held
  })

  dismiss = key => this.#change(tx => tx.delete("notices", key))
  takeOffShelf = key => this.#change(tx => tx.delete("shelf", key))
  erase = () => this.#change(tx => ALL_STORES.forEach(store => tx.clear(store)), ALL_STORES)
}
