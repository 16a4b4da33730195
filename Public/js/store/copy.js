// The local copy: all that a client reads and writes (clients.md, rule 1). Reading is synchronous, from memory.
import {clockOf, valueOf} from "../model/entity.js"
import {hex, sha256} from "../model/hash.js"
import {excerptOf, titleOf} from "../model/text.js"
import {newID} from "../model/uuid.js"
import {ALL_STORES, StoreError} from "./database.js"
import {clockIn} from "./records.js"
import {Writing, edit} from "./writing.js"

/**
 * A note as a person sees it, unsent edits included, members resolved.
 * @typedef {{uniqueID: string, creationDate: string, text: string, title: string, excerpt: string, archived: boolean,
 *   sortDate: string, pinned: boolean, tags: string[], attachments: string[], attributes: Object<string, any>,
 *   textClock: string | null, isUnsent: boolean}} Note
 */
/** @typedef {import("./note-list.js").Tag} Tag */
/**
 * @typedef {{uniqueID: string, mimeType: string, filename?: string, width?: number, height?: number, preview?: string,
 *   byteCount?: number, sha256?: string, isHere: boolean, isUnsent: boolean}} Attachment `isHere`: its bytes are
 */
/** @typedef {{account: {uniqueID: string, email: string}, device: {uniqueID: string, name: string}, signedOut?: boolean}} Session */

const DAY = 86_400_000

/**
 * Events: "change" {ids: Set | null (any), source}; "session", "settings", "held", "notice", "shelf" {source};
 * "trouble" (a StoreError: it could not be read again); "outdated" (a newer version is open: reload).
 */
export class Copy extends Writing {
  /** @type {Map<string, Note>} */
  #notes = new Map()
  /** @type {Promise<unknown>} */
  #attaching = Promise.resolve()

  /** @param {string} [name] of the database @returns {Promise<Copy>} when the newest notes are there; `loaded`: all */
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
      if (ids) for (const id of ids) this.#notes.delete(id)
      else this.#notes.clear()
    })
  }

  /**
   * Who is signed in.
   * @returns {Session | null}
   */
  get session() {
    return this.list.memory.meta.get("session") ?? null
  }

  /** @param {string} id @returns {Note | undefined} */
  note(id) {
    const shown = this.#notes.get(id)
    if (shown) return shown
    const {list, list: {memory}} = this
    const entity = memory.entity(id)
    if (entity?.type !== "note") return undefined
    const text = valueOf(entity, "text")
    /** @type {Object<string, any>} */
    const attributes = {}
    for (const [name, [value]] of Object.entries(entity.registers)) {
      if (name.startsWith("attributes.")) attributes[name.slice(11)] = value
    }
    const note = {
      uniqueID: id, creationDate: entity.fixed.creationDate, text, title: titleOf(text), excerpt: excerptOf(text),
      archived: valueOf(entity, "archived"), sortDate: valueOf(entity, "sortDate"), pinned: attributes.pinned === true,
      tags: list.members(id, "tags"), attachments: list.members(id, "attachments"), attributes,
      textClock: clockOf(entity, "text"), isUnsent: memory.unsent.has(id) || memory.made.has(id),
    }
    this.#notes.set(id, note)
    return note
  }

  /** @param {Parameters<import("./note-list.js").NoteList["notes"]>[0]} [filter] @returns {string[]} IDs, in the order of the list */
  notes(filter = {}) {
    return this.list.notes(filter)
  }

  /** @param {string} id @returns {Tag | undefined} */
  tag(id) {
    return this.list.tag(id)
  }

  /**
   * Live tags by their folded names.
   * @returns {Tag[]}
   */
  tags() {
    return this.list.tags()
  }

  /** @param {string} name in any case @returns {string | undefined} its ID */
  tagNamed(name) {
    return this.list.tagNamed(name)
  }

  /** @param {string} id @returns {Attachment | undefined} */
  attachment(id) {
    const {memory} = this.list
    const entity = memory.entity(this.list.resolve(id) ?? id)
    if (entity?.type !== "attachment") return undefined
    const {uniqueID, fixed} = entity
    const isHere = memory.bytes.has(uniqueID), isUnsent = memory.made.has(uniqueID)
    return {.../** @type {any} */ (fixed), uniqueID, isHere, isUnsent}
  }

  /**
   * Everything that a person sees, in registers: for an export.
   * @returns {Generator<import("../model/entity.js").Entity>}
   */
  * entities() {
    for (const id of this.list.memory.ids()) {
      const entity = this.list.memory.entity(id)
      if (entity) yield entity
    }
  }

  /**
   * The bytes of an attachment if they are here.
   * @param {string} id @returns {Promise<Blob | undefined>}
   */
  async bytes(id) {
    const record = await this.transaction(["bytes"], "readonly", tx => tx.get("bytes", id))
    if (!record) return undefined
    if (Date.now() - record.lastUse > DAY) this.#use(id).catch(() => {}) // Only the order of `makeRoom` is older.
    return record.blob
  }

  /** @param {string} id */
  #use(id) {
    return this.transaction(["bytes"], "readwrite", async tx => {
      const record = await tx.get("bytes", id)
      if (record) tx.put("bytes", {...record, lastUse: Date.now()})
    }, "here")
  }

  /**
   * Gives up bytes that the server has, the longest unused half.
   * @returns {Promise<boolean>}
   */
  async makeRoom() {
    const {made, deleted} = this.list.memory
    return this.transaction(["bytes"], "readwrite", async tx => {
      const records = (await tx.getAll("bytes")).filter(({uniqueID}) => !made.has(uniqueID))
      records.sort((a, b) => Number(deleted.has(b.uniqueID)) - Number(deleted.has(a.uniqueID)) || a.lastUse - b.lastUse)
      for (const {uniqueID} of records.slice(0, Math.ceil(records.length / 2))) tx.delete("bytes", uniqueID)
      return records.length > 0
    }, "here").catch(() => false)
  }

  /**
   * Attaches bytes to a note. The same bytes on the same note are attached once; those that were taken out come back.
   * @param {string} note
   * @param {Blob} blob
   * @param {{mimeType?: string, filename?: string, width?: number, height?: number, preview?: string, uniqueID?: string}} [properties]
   * @returns {Promise<string>} the attachment's ID
   */
  attach(note, blob, properties = {}) {
    // One after the other: two of the same are seen, and one of 100 MiB at a time is in memory.
    const attached = this.#attaching.then(() => this.#attach(note, blob, properties))
    this.#attaching = attached.catch(() => {})
    return attached
  }

  /** @param {string} note @param {Blob} blob @param {Parameters<Copy["attach"]>[2] & {}} properties */
  async #attach(note, blob, {mimeType = blob.type || "application/octet-stream", uniqueID = newID(), ...properties}) {
    const {list, list: {memory}, limits} = this
    if (blob.size > limits.attachmentBytes) {
      throw new StoreError("too-large", null, `The server takes files of at most ${Math.floor(limits.attachmentBytes / 1048576)} MiB.`)
    }
    if (memory.entity(note)?.type !== "note") throw new StoreError(memory.deleted.has(note) ? "gone" : "missing")
    const bytes = await blob.arrayBuffer().catch(error => {
      throw new StoreError("unreadable", error, "The file could not be read. Choose it again.")
    })
    const hash = hex(globalThis.crypto.subtle
      ? new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)) : sha256(new Uint8Array(bytes)))
    const held = Object.keys(memory.known(note)?.registers ?? {}).filter(name => name.startsWith("attachments."))
      .map(name => list.resolve(name.slice(12))).find(id => id && memory.entity(id)?.fixed.sha256 === hash)
    if (held) {
      await this.reattach(note, held)
      return held
    }
    const fixed = {mimeType, ...properties, byteCount: blob.size, sha256: hash}
    await this.transaction(["meta", "unsent", "made", "bytes"], "readwrite", async tx => {
      await clockIn(tx)
      tx.put("made", {uniqueID, type: "attachment", fixed: JSON.parse(JSON.stringify(fixed)), needsBytes: true})
      // Not the file itself: it may change on the disk, and then it is not what was hashed.
      tx.put("bytes", {uniqueID, blob: new Blob([bytes], {type: mimeType}), lastUse: Date.now()})
      await edit(tx, "note", note, `attachments.${uniqueID}`, true)
    }, "here")
    return uniqueID
  }

  /** What this browser remembers of how a person likes it: of all tabs, of no account. */
  settings = {
    /** @param {string} name @param {any} [otherwise] @returns {any} */
    get: (name, otherwise) => this.list.memory.meta.get("settings")?.[name] ?? otherwise,
    /** @param {string} name @param {any} value @returns {Promise<void>} */
    set: (name, value) => this.transaction(["meta"], "readwrite", async tx => {
      tx.put("meta", {...await tx.get("meta", "settings"), [name]: value}, "settings")
    }, "here"),
  }

  /** How many objects have something to be sent. */
  unsentCount() {
    return this.list.memory.toSend().size
  }

  /** When the next held deletion is due, in ms since 1970; null: none is held. */
  nextDeletion() {
    const held = [...this.list.memory.deletions.values()].filter(one => one.heldUntil).map(one => one.heldUntil)
    return held.length ? Math.min(...held) : null
  }

  /**
   * What the server refused, each with its `key`.
   * @returns {any[]}
   */
  shelf() {
    return [...this.list.memory.shelf].map(([key, record]) => ({key, ...record}))
  }

  /**
   * What a person should hear of, each with its `key`.
   * @returns {any[]}
   */
  notices() {
    return [...this.list.memory.notices].map(([key, record]) => ({key, ...record}))
  }

  /** @param {IDBValidKey} key */
  dismiss(key) {
    return this.transaction(["notices"], "readwrite", tx => tx.delete("notices", key), "here")
  }

  /** @param {IDBValidKey} key */
  takeOffShelf(key) {
    return this.transaction(["shelf"], "readwrite", tx => tx.delete("shelf", key), "here")
  }

  /** Erases everything here, for all tabs: "session" tells them. */
  erase() {
    return this.transaction(ALL_STORES, "readwrite", tx => {
      for (const store of ALL_STORES) tx.clear(store)
    }, "here")
  }
}
