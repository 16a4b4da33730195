// The local copy: everything that the views read and write (clients.md, rules 1 and 2). Reading is synchronous, from memory,
// and includes what is unsent. Its interface is described in types.d.ts, `LocalCopy`.
import {rebase, splice} from "../model/difference.js"
import {
  editedAt, exists, fold, membersOf, rawMembers, registersOf, resolve, valueOf, writeState,
} from "../model/entity.js"
import {hashOfFile, newID, randomID, utf8} from "../model/hash.js"
import {foldName} from "../model/search.js"
import {excerptOf, titleOf} from "../model/text.js"
import {keyOf, tagTree} from "../model/tree.js"
import {ALL_STORES, Database, FIRST_NOTES, StoreError} from "./database.js"
import {clockIn, edit, makeNote, rescueIn, rescueOf, seenTexts} from "./records.js"
import {Rows} from "./rows.js"

/** How long a deletion can be undone, in ms. */
const UNDO_TIME = 10_000
/** How long haystacks are built at a time while the browser is idle, in ms. */
const IDLE_SLICE = 8
/** The object stores of transactions that edit. */
const EDITED_STORES = ["shelf", "notices", "meta", "objects", "deleted", "unsent", "made", "deletions"]

const whenIdle = globalThis.requestIdleCallback ?? (task => setTimeout(task, 50))
const withKeys = map => Array.from(map, ([key, record]) => ({key, ...record}))

const check = (isRight, slug) => {
  if (!isRight) throw new StoreError(slug)
}

/** @implements {LocalCopy} */
export class Copy extends Database {
  #rows = new Rows((id, kind) => this.members(id, kind))
  /** Live objects that are not notes; of tags the folded name. */
  #live = new Map()
  /** @type {ReturnType<typeof tagTree> | undefined} undefined: notes are to be counted again */
  #tree
  /** @type {Promise<any>} the last attachment that was added */
  #attaching = Promise.resolve()

  static async open(name = "hesper") {
    const copy = new Copy()
    await copy.open(name)
    return copy
  }

  // Memory, and what is derived from it

  take(lines) {
    const ids = super.take(lines)
    // A tag or attachment that appears or goes changes the members of any note.
    const changesMembers = [...ids].filter(id => this.#takeObject(id)).length
    if (changesMembers) this.#rows.forgetMembers()
    this.#tree = undefined
    if (ids.size > FIRST_NOTES) whenIdle(this.#prepareWhenIdle)
    return changesMembers ? null : ids
  }

  /** Brings `#rows` and `#live` up to date. Whether an ID resolves to something else than before. */
  #takeObject(id) {
    const entity = this.entity(id)
    const wasLive = this.#live.delete(id)
    if (entity?.type === "note") this.#rows.set(entity)
    else {
      this.#rows.delete(id)
      if (entity) this.#live.set(id, entity.type === "tag" ? foldName(valueOf(entity, "name")) : "")
    }
    return this.#isLive(id) !== wasLive || this.memory.deleted.get(id)?.mergedInto
  }

  #isLive = id => this.#live.has(id)

  prepareSearch = most => this.#rows.prepare(most)
  #prepareWhenIdle = () => this.prepareSearch(IDLE_SLICE) || whenIdle(this.#prepareWhenIdle)

  // Reading

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

  known(id) {
    const {objects, made, unsent} = this.memory
    const stored = objects.get(id)
    const own = made.get(id)
    const edits = [...unsent.get(id)?.values() ?? []]
    if (!own && !edits.length) return stored
    const {type} = stored ?? own ?? edits[0]
    const registers = registersOf(edits)
    const folded = {uniqueID: id, type, fixed: {...stored?.fixed}, registers: {...stored?.registers}}
    fold(folded, {...folded, fixed: own?.fixed ?? {}, registers})
    // While a text is unsent, the server's does not take its place (clients.md, rule 3).
    if (registers.text) folded.registers.text = registers.text
    return folded
  }

  entity(id) {
    const {deleted, deletions} = this.memory
    const entity = deleted.has(id) || deletions.has(id) ? null : this.known(id)
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

  note(id) {
    const entity = this.entity(id)
    if (entity?.type !== "note") return undefined
    const {clocks, ...state} = writeState(entity)
    const {text, attributes} = state
    const edited = editedAt(entity).slice(0, 24)
    const now = new Date().toISOString()
    return {
      ...state,
      title: titleOf(text),
      excerpt: excerptOf(text),
      edited: edited < now ? edited : now,
      pinned: attributes.pinned === true,
      tags: this.members(id, "tags"),
      attachments: this.members(id, "attachments"),
      textClock: clocks.text ?? null,
      isUnsent: this.memory.unsent.has(id) || this.memory.made.has(id),
    }
  }

  /** @type {LocalCopy["notes"]} */
  notes = ({query = "", tag = null, isExact = false, archived = false, order = "edited", arePrepared = false} = {}) => {
    const exact = tag && this.resolve(tag)
    const tags = !tag ? null : isExact ? new Set(exact ? [exact] : []) : this.#nodeOf(tag)?.ids ?? new Set()
    const names = Array.from(this.#live, ([id, name]) => ({id, name})).filter(({name}) => name)
    return this.#rows.find({query: query.trim(), tags, archived, order, arePrepared}, names)
  }

  counts = () => this.#rows.counts()
  flags = ids => this.#rows.flags(ids)

  /** The node of a tag, or of a key that the tree has or had. */
  #nodeOf(tag) {
    const path = this.#live.get(this.resolve(tag) ?? "")
    return this.tagTree().find(node => path ? node.path === path : keyOf(node.path) === tag)
  }

  titles = () => this.#rows.titles()

  titled(title) {
    const folded = foldName(title)
    return this.titles().find(one => foldName(one.title) === folded)?.id
  }

  linkingTo = title => this.#rows.linkingTo(foldName(title))

  tag(id) {
    const entity = this.entity(this.resolve(id))
    if (entity?.type !== "tag") {
      const node = this.#nodeOf(id)
      return !node ? undefined : node.tag ? this.tag(node.tag) : {uniqueID: node.key, name: node.name, count: node.count}
    }
    const {uniqueID} = entity
    return {uniqueID, name: valueOf(entity, "name"), count: this.#counted().counts.get(uniqueID) ?? 0}
  }

  /** By their folded names. */
  #tagIDs() {
    const names = [...this.#live].filter(([, name]) => name)
    return names.sort(([a, one], [b, other]) => `${one}\0${a}` < `${other}\0${b}` ? -1 : 1).map(([id]) => id)
  }

  #counted() {
    const tag = id => ({id, folded: this.#live.get(id) ?? "", name: valueOf(/** @type {Entity} */ (this.entity(id)), "name")})
    return this.#tree ??= tagTree(this.#tagIDs().map(tag), this.#rows.tagged())
  }

  tags = () => this.#tagIDs().flatMap(id => this.tag(id) ?? [])
  tagTree = () => this.#counted().nodes

  tagNamed(name) {
    const folded = foldName(name)
    return [...this.#live.keys()].filter(id => folded && this.#live.get(id) === folded).sort()[0]
  }

  attachment(id) {
    const entity = this.entity(this.resolve(id) ?? id)
    if (entity?.type !== "attachment") return undefined
    const {bytes, made} = this.memory
    const {uniqueID, fixed} = entity
    return {...fixed, uniqueID, isHere: bytes.has(uniqueID), isUnsent: made.has(uniqueID)}
  }

  bytes = async id => (await this.transaction(["bytes"], "readonly", tx => tx.get("bytes", id)))?.blob

  // What is to be sent

  /** The IDs of objects with something unsent. */
  toSend() {
    const {unsent, made, deletions} = this.memory
    return new Set([...unsent.keys(), ...made.keys(), ...deletions.keys()])
  }

  unsentCount = () => this.toSend().size

  heldCount() {
    const {unsent, made} = this.memory
    const isHeld = id => made.get(id)?.held || [...unsent.get(id)?.values() ?? []].some(one => one.held)
    return [...this.toSend()].filter(isHeld).length
  }

  nextDeletion = () => Math.min(...Array.from(this.memory.deletions.values(), one => one.heldUntil || Infinity))
  shelf = () => withKeys(this.memory.shelf)
  notices = () => withKeys(this.memory.notices)

  // Writing

  #change(body, stores = EDITED_STORES) {
    return this.transaction(stores, "readwrite", body, "here")
  }

  /** The live object, or a StoreError. */
  #find(id, type = "") {
    const entity = this.entity(id)
    if (entity && (!type || entity.type === type)) return entity
    throw new StoreError(this.known(id) || this.memory.deleted.has(id) ? "gone" : "missing")
  }

  #checkSize(text, limit) {
    check(!(utf8(text).length > this.limits[limit]), "too-large")
  }

  /** The name of a tag without surrounding white space. */
  #checkName(name) {
    const trimmed = name.trim()
    check(trimmed, "invalid")
    this.#checkSize(trimmed, "tagNameBytes")
    return trimmed
  }

  /** Sets an attribute of those objects that have another value. */
  async #set(type, ids, attribute, value) {
    const others = ids.filter(id => valueOf(this.#find(id, type), attribute) !== value)
    if (others.length) await this.#change(tx => Promise.all(others.map(id => edit(tx, type, id, attribute, value))))
  }

  setArchived = (ids, archived) => this.#set("note", ids, "archived", archived)
  setSortDate = (id, date) => this.#set("note", [id], "sortDate", date)
  setAttribute = (id, name, value) => this.#set("note", [id].flat(), `attributes.${name}`, value)
  renameTag = (id, name) => this.renameTags([[id, name]])

  async renameTags(pairs) {
    const names = new Map(pairs.map(([id, name]) => [id, this.#checkName(name)]))
    const others = [...names].filter(([id, name]) => valueOf(this.#find(id, "tag"), "name") !== name)
    if (others.length) await this.#change(tx => Promise.all(others.map(([id, name]) => edit(tx, "tag", id, "name", name))))
  }

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
      const [unsent, deleted] = await Promise.all([tx.get("unsent", [id, "text"]), tx.get("deleted", id)])
      check(!deleted, "gone")
      if (text === (unsent ?? base).value) return (unsent ?? base).clock
      const clock = (await clockIn(tx)).tick(Date.now())
      // Another tab may have written since the editor read its base.
      const isFromBase = !unsent || unsent.value === base.value
      const value = isFromBase ? text : rebase(base.value, text, unsent.value)
      if (value === null) {
        // Both changed the same place: this text stands, and a notice keeps the other tab's words.
        const {start, end, text: words} = splice(text, unsent.value)
        const superseded = [{text: words, location: start, length: end - start}]
        tx.put("notices", {kind: "merged", uniqueID: id, superseded, clock, moment: Date.now()})
      }
      // An unsent text keeps its base: the server knows that version, not those between (clients.md, rule 3).
      const descent = unsent
        ?? {after: [], ...base.clock && {base: base.clock, baseValue: base.value, isMoved: base.isMoved}}
      tx.put("unsent", {
        ...descent, uniqueID: id, attribute: "text", type: "note", value: value ?? text, clock, held: false,
      })
      return clock
    })
  }

  async rescue(note, text) {
    this.#checkSize(text, "textBytes")
    return this.#change(tx => rescueIn(tx, note, text))
  }

  rescueOf = id => rescueOf(async key => this.memory.deleted.get(key), id)

  async setMember(note, kind, member, isIn) {
    this.#find(note, "note")
    const id = this.resolve(member) ?? member
    const isThere = this.members(note, kind).includes(id)
    if (isThere !== isIn) await this.#change(tx => edit(tx, "note", note, `${kind}.${id}`, isIn))
  }

  async setTags(changes) {
    for (const [note] of changes) this.#find(note, "note")
    await this.#change(tx => Promise.all(changes.map(([note, tag, isIn]) =>
      edit(tx, "note", note, `tags.${this.resolve(tag) ?? tag}`, isIn))))
  }

  addTag = (note, tag) => this.setMember(note, "tags", tag, true)
  removeTag = (note, tag) => this.setMember(note, "tags", tag, false)
  reattach = (note, attachment) => this.setMember(note, "attachments", attachment, true)
  detach = (note, attachment) => this.setMember(note, "attachments", attachment, false)

  async createTag(name) {
    const trimmed = this.#checkName(name)
    const standing = this.tagNamed(trimmed)
    if (standing) return standing
    const uniqueID = newID()
    await this.#change(tx => {
      tx.put("made", {uniqueID, type: "tag", fixed: {}})
      return edit(tx, "tag", uniqueID, "name", trimmed)
    })
    return uniqueID
  }

  attach(note, blob, properties = {}) {
    // One after the other, so that the second of two equal files is recognized.
    return this.#attaching = this.#attaching.catch(() => {}).then(() => this.#attach(note, blob, properties))
  }

  async #attach(note, file, {mimeType = file.type || "application/octet-stream", uniqueID = randomID(), ...properties}) {
    const entity = this.#find(note, "note")
    check(!(file.size > this.limits.attachmentBytes), "too-large")
    // A copy of the bytes: the file may change on the disk.
    const bytes = await file.arrayBuffer()
    const sha256 = await hashOfFile(bytes)
    const attached = rawMembers(entity, "attachments").map(({id}) => this.attachment(id))
    const same = attached.find(one => one?.sha256 === sha256)
    if (same) {
      await this.reattach(note, same.uniqueID)
      return same.uniqueID
    }
    // By way of JSON, which leaves properties out that are undefined.
    const fixed = JSON.parse(JSON.stringify({mimeType, ...properties, byteCount: file.size, sha256}))
    await this.#change(tx => {
      tx.put("made", {uniqueID, type: "attachment", fixed, needsBytes: true})
      tx.put("bytes", {uniqueID, blob: new Blob([bytes], {type: mimeType}), lastUse: Date.now()})
      return edit(tx, "note", note, `attachments.${uniqueID}`, true)
    }, [...EDITED_STORES, "bytes"])
    return uniqueID
  }

  async remove(ids) {
    const deletions = [ids].flat().map(id =>
      ({uniqueID: id, objectType: this.#find(id).type, heldUntil: Date.now() + UNDO_TIME}))
    await this.#change(tx => Promise.all(deletions.map(async deletion => {
      const {uniqueID: id, objectType} = deletion
      const [text, stored] = await Promise.all([tx.get("unsent", [id, "text"]), tx.get("objects", id)])
      tx.put("deletions", objectType === "note" ? {...deletion, ...seenTexts(text, stored)} : deletion)
    })))
  }

  undoRemove = ids => this.#change(async tx => {
    const held = await Promise.all([ids].flat().map(async id => Boolean((await tx.get("deletions", id))?.heldUntil) && id))
    for (const id of held) if (id) tx.delete("deletions", id)
    return held.every(Boolean)
  })

  dismiss = key => this.#change(tx => tx.delete("notices", key))
  takeOffShelf = key => this.#change(tx => tx.delete("shelf", key))
  /** Erases everything, unless the session of another device has begun. Without an ID: in any case. */
  erase = deviceID => this.#change(async tx => {
    if (deviceID && (await tx.get("meta", "session"))?.device.uniqueID !== deviceID) return
    for (const store of ALL_STORES) tx.clear(store)
  }, ALL_STORES)
}
