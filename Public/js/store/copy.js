// The local copy, all that a client reads and writes (clients.md, rules 1 and 2). Its interface: types.d.ts.
import {clockOf, parseDate, partsOf, valueOf} from "../model/entity.js"
import {excerptOf, rebase, titleOf} from "../model/text.js"
import {hashOfFile, newID, utf8} from "../model/hash.js"
import {foldName} from "../model/terms.js"
import {ALL_STORES, Following} from "./following.js"
import {StoreError, clockIn, edit, makeNote, rescueIn} from "./records.js"

const DAY = 86_400_000
const HOLD = 10_000 // ms that a deletion is held back
/** Of the server, until it says its own (protocol.md, Limits). */
const LIMITS = {
  textBytes: 1 << 20, tagNameBytes: 256, attributeValueBytes: 8192, members: 1000, attachmentBytes: 100 << 20,
  filenameBytes: 1024, previewBytes: 8192,
}
const NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/
const WRITTEN = ["meta", "objects", "deleted", "unsent", "made", "deletions", "notices", "shelf"]

const withKeys = map => Array.from(map, ([key, record]) => ({key, ...record}))

const check = (isValid, slug = "invalid") => {
  if (!isValid) throw new StoreError(slug)
}

/** @implements {LocalCopy} */
export class Copy extends Following {
  /** @type {Map<string, Note>} */
  #notes = new Map()
  /** @type {Promise<any>} */
  #attaching = Promise.resolve()

  /** With the newest notes; `loaded` resolves with all. */
  static async open(name = "hesper") {
    const copy = new Copy(name)
    await copy.open()
    return copy
  }

  /** @param {string} name */
  constructor(name) {
    super(name)
    this.addEventListener("change", event => {
      const {ids} = /** @type {CustomEvent} */ (event).detail
      for (const id of ids ?? this.#notes.keys()) this.#notes.delete(id)
    })
  }

  get session() {
    return this.memory.meta.get("session") ?? null
  }

  get limits() {
    return {...LIMITS, ...this.memory.meta.get("limits")}
  }

  settings = {
    get: (name, otherwise) => this.memory.meta.get("settings")?.[name] ?? otherwise,
    set: (name, value) => this.#change(async tx => {
      tx.put("meta", {...await tx.get("meta", "settings"), [name]: value}, "settings")
    }),
  }

  note(id) {
    const entity = this.#notes.has(id) ? null : this.entity(id)
    if (entity?.type !== "note") return this.#notes.get(id)
    const text = valueOf(entity, "text"), attributes = {}
    for (const name in entity.registers) {
      if (name.startsWith("attributes.")) attributes[name.slice(11)] = valueOf(entity, name)
    }
    const note = {
      uniqueID: id, creationDate: entity.fixed.creationDate, text, title: titleOf(text), excerpt: excerptOf(text),
      archived: valueOf(entity, "archived"), sortDate: valueOf(entity, "sortDate"), pinned: attributes.pinned === true,
      tags: this.members(id, "tags"), attachments: this.members(id, "attachments"), attributes,
      textClock: clockOf(entity, "text"), isUnsent: this.memory.unsent.has(id) || this.memory.made.has(id),
    }
    this.#notes.set(id, note)
    return note
  }

  attachment(id) {
    const {bytes, made} = this.memory, entity = this.entity(this.resolve(id) ?? id)
    if (entity?.type !== "attachment") return undefined
    const {uniqueID, fixed} = entity
    return {.../** @type {any} */ (fixed), uniqueID, isHere: bytes.has(uniqueID), isUnsent: made.has(uniqueID)}
  }

  async bytes(id) {
    const record = await this.transaction(["bytes"], "readonly", tx => tx.get("bytes", id))
    if (record && Date.now() - record.lastUse > DAY) {
      // If this fails, less is known when room is made.
      this.#change(async tx => {
        if (await tx.get("bytes", id)) tx.put("bytes", {...record, lastUse: Date.now()})
      }, ["bytes"]).catch(() => {})
    }
    return record?.blob
  }

  unsentCount() {
    return this.toSend().size
  }

  nextDeletion() {
    const held = [...this.memory.deletions.values()].flatMap(one => one.heldUntil || [])
    return held.length ? Math.min(...held) : null
  }

  shelf() {
    return withKeys(this.memory.shelf)
  }

  notices() {
    return withKeys(this.memory.notices)
  }

  #change(body, stores = WRITTEN) {
    return this.transaction(stores, "readwrite", body, "here")
  }

  #live(id, type) {
    const entity = this.entity(id)
    if (entity && entity.type === type) return entity
    throw new StoreError(this.known(id) || this.memory.deleted.has(id) ? "gone" : "missing")
  }

  #checkSize(text, limit) {
    check(utf8(text).length <= this.limits[limit], "too-large")
  }

  #checkDate(date) {
    check(date === undefined || parseDate(date) !== null)
  }

  #checkAttribute(name, value) {
    check(NAME.test(name) && (value === null || ["string", "boolean"].includes(typeof value) || Number.isFinite(value)))
    this.#checkSize(JSON.stringify(value), "attributeValueBytes")
  }

  #checkName(name) {
    const trimmed = name.trim()
    check(foldName(trimmed))
    this.#checkSize(trimmed, "tagNameBytes")
    return trimmed
  }

  /** Sets an attribute of each that has another value. */
  async #set(type, ids, attribute, value) {
    const others = ids.filter(id => valueOf(this.#live(id, type), attribute) !== value)
    if (others.length) await this.#change(tx => Promise.all(others.map(id => edit(tx, type, id, attribute, value))))
  }

  async createNote(note = {}) {
    return (await this.createNotes([note]))[0]
  }

  async createNotes(notes) {
    for (const {text = "", creationDate, sortDate, tags = [], attachments = [], attributes = {}} of notes) {
      this.#checkSize(text, "textBytes")
      this.#checkDate(creationDate)
      this.#checkDate(sortDate)
      for (const name in attributes) this.#checkAttribute(name, attributes[name])
      check(Math.max(tags.length, attachments.length) <= this.limits.members, "too-large")
    }
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
      // The node of what stands again: what may have arrived descends from itself after a new sign-in, too.
      const clock = (await clockIn(tx)).tick(Date.now(), standing && partsOf(standing.clock).node)
      const value = !standing || standing.value === base.value ? text : rebase(base.value, text, standing.value)
      if (value === null) {
        const {value: mine, clock} = standing
        tx.put("notices", {kind: "merged", uniqueID: id, mine, base: base.value, clock, moment: Date.now()})
      }
      const descent = standing ?? (base.clock && {base: base.clock, baseValue: base.value})
      tx.put("unsent", {...descent, uniqueID: id, attribute: "text", type: "note", value: value ?? text, clock})
      return clock
    })
  }

  setArchived(ids, archived) {
    return this.#set("note", ids, "archived", archived)
  }

  async setSortDate(id, date) {
    this.#checkDate(date)
    return this.#set("note", [id], "sortDate", date)
  }

  async setAttribute(id, name, value) {
    this.#checkAttribute(name, value)
    return this.#set("note", [id], `attributes.${name}`, value)
  }

  async setMember(note, kind, member, isIn) {
    const {registers} = this.#live(note, "note"), id = this.resolve(member) ?? member
    if (this.members(note, kind).includes(id) === isIn) return
    const others = Object.keys(registers).filter(name => name.startsWith(kind) && name !== `${kind}.${id}`)
    check(others.length < this.limits.members, "too-large")
    await this.#change(tx => edit(tx, "note", note, `${kind}.${id}`, isIn))
  }

  addTag(note, tag) {
    return this.setMember(note, "tags", tag, true)
  }

  removeTag(note, tag) {
    return this.setMember(note, "tags", tag, false)
  }

  detach(note, attachment) {
    return this.setMember(note, "attachments", attachment, false)
  }

  reattach(note, attachment) {
    return this.setMember(note, "attachments", attachment, true)
  }

  async createTag(name) {
    const trimmed = this.#checkName(name), standing = this.tagNamed(trimmed), uniqueID = newID()
    if (standing) return standing
    await this.#change(tx => {
      tx.put("made", {uniqueID, type: "tag", fixed: {}})
      return edit(tx, "tag", uniqueID, "name", trimmed)
    })
    return uniqueID
  }

  async renameTag(id, name) {
    return this.#set("tag", [id], "name", this.#checkName(name))
  }

  attach(note, blob, properties = {}) {
    // One after the other: two of the same are seen, and one of 100 MiB at a time is in memory.
    return this.#attaching = this.#attaching.catch(() => {}).then(() => this.#attach(note, blob, properties))
  }

  async #attach(note, file, {mimeType = file.type || "application/octet-stream", uniqueID = newID(), ...properties}) {
    const {registers} = this.#live(note, "note")
    check(file.size <= this.limits.attachmentBytes, "too-large")
    this.#checkSize(properties.filename ?? "", "filenameBytes")
    this.#checkSize(properties.preview ?? "", "previewBytes")
    // Not the file itself: that may change on the disk, and is not what was hashed then.
    // Not the file itself: that may change on the disk, and is not what was hashed then.
    const bytes = await file.arrayBuffer(), sha256 = await hashOfFile(bytes)
    const held = Object.keys(registers).map(name => name.startsWith("attachments.") && this.resolve(name.slice(12)))
      .find(id => id && this.entity(id)?.fixed.sha256 === sha256)
    if (held) {
      await this.reattach(note, held)
      return held
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
    const {deleted, deletions} = this.memory, objectType = this.known(id)?.type
    if (deleted.has(id) || deletions.has(id)) return
    check(objectType, "missing")
    await this.#change(tx => tx.put("deletions", {uniqueID: id, objectType, heldUntil: Date.now() + HOLD}))
  }

  undoRemove(id) {
    return this.#change(async tx => {
      const held = (await tx.get("deletions", id))?.heldUntil
      if (held) tx.delete("deletions", id)
      return !!held
    })
  }

  async rescue(note, text) {
    this.#checkSize(text, "textBytes")
    return this.#change(tx => rescueIn(tx, note, text))
  }

  dismiss(key) {
    return this.#change(tx => tx.delete("notices", key))
  }

  takeOffShelf(key) {
    return this.#change(tx => tx.delete("shelf", key))
  }

  erase() {
    return this.#change(tx => ALL_STORES.forEach(store => tx.clear(store)), ALL_STORES)
  }
}
