// The local copy, all that a client reads and writes (clients.md, rule 1). Reading is synchronous, from memory.
import {clockOf, valueOf} from "../model/entity.js"
import {hashOfFile, newID} from "../model/hash.js"
import {excerptOf, titleOf} from "../model/text.js"
import {ALL_STORES, StoreError} from "./database.js"
import {Writing, checkSize, edit} from "./writing.js"


const DAY = 86_400_000

/**
 * Events: "change" {ids: Set | null (any), source}; "session", "settings", "held", "notice", "shelf" {source};
 * "trouble" (a StoreError: what others wrote could not be read); "outdated" (a newer version is open: reload).
 */
export class Copy extends Writing {
  /** @type {Map<string, Note>} */
  #notes = new Map()
  /** @type {Promise<any>} */
  #attaching = Promise.resolve()

  /**
   * With the newest notes; `loaded` resolves with all.
   * @param {string} [name] of the database
   */
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

  /**
   * Who is signed in.
   * @returns {Session | null}
   */
  get session() {
    return this.list.memory.meta.get("session") ?? null
  }

  /** @type {(id: string) => Note | undefined} */
  note(id) {
    const {list, list: {memory}} = this
    const entity = this.#notes.has(id) ? null : memory.entity(id)
    if (entity?.type !== "note") return this.#notes.get(id)
    const text = valueOf(entity, "text")
    const own = Object.entries(entity.registers).filter(([name]) => name.startsWith("attributes."))
    const attributes = Object.fromEntries(own.map(([name, [value]]) => [name.slice(11), value]))
    const note = {
      uniqueID: id, creationDate: entity.fixed.creationDate, text, title: titleOf(text), excerpt: excerptOf(text),
      archived: valueOf(entity, "archived"), sortDate: valueOf(entity, "sortDate"), pinned: attributes.pinned === true,
      tags: list.members(id, "tags"), attachments: list.members(id, "attachments"), attributes,
      textClock: clockOf(entity, "text"), isUnsent: memory.unsent.has(id) || memory.made.has(id),
    }
    this.#notes.set(id, note)
    return note
  }

  /**
   * IDs in the order of the list.
   * @type {NoteList["notes"]}
   */
  notes(filter) {
    return this.list.notes(filter)
  }

  /** @type {NoteList["tag"]} */
  tag(id) {
    return this.list.tag(id)
  }

  tags() {
    return this.list.tags()
  }

  /**
   * Its ID.
   * @type {NoteList["tagNamed"]}
   */
  tagNamed(name) {
    return this.list.tagNamed(name)
  }

  /** @type {(id: string) => Attachment | undefined} */
  attachment(id) {
    const {memory} = this.list, entity = memory.entity(this.list.resolve(id) ?? id)
    if (entity?.type !== "attachment") return undefined
    const {uniqueID, fixed} = entity, isHere = memory.bytes.has(uniqueID), isUnsent = memory.made.has(uniqueID)
    return {.../** @type {any} */ (fixed), uniqueID, isHere, isUnsent}
  }

  /** All that a person sees, in registers, for an export. */
  * entities() {
    for (const id of this.list.memory.ids()) {
      const entity = this.list.memory.entity(id)
      if (entity) yield entity
    }
  }

  /**
   * An attachment's bytes if they are here.
   * @type {(id: string) => Promise<Blob | undefined>}
   */
  async bytes(id) {
    const record = await this.transaction(["bytes"], "readonly", tx => tx.get("bytes", id))
    if (record && Date.now() - record.lastUse > DAY) {
      // If this fails, `makeRoom` knows less.
      this.change(["bytes"], async tx => {
        if (await tx.get("bytes", id)) tx.put("bytes", {...record, lastUse: Date.now()})
      }).catch(() => {})
    }
    return record?.blob
  }

  /** Gives up half of the bytes that the server has, the longest unused. */
  async makeRoom() {
    const {made, deleted} = this.list.memory
    return this.change(["bytes"], async tx => {
      // Keys alone: bytes that a page has a hand on are not given up before it lets go.
      const ids = (await tx.getAllKeys("bytes", "lastUse")).filter(id => !made.has(id))
      ids.sort((a, b) => +deleted.has(b) - +deleted.has(a))
      for (const id of ids.slice(0, Math.ceil(ids.length / 2))) tx.delete("bytes", id)
      return ids.length > 0
    }).catch(() => false)
  }

  /**
   * Puts a file on a note; its ID. The same bytes are on a note once, and what was taken out comes back.
   * @type {(note: string, blob: Blob, properties?: Properties & {uniqueID?: string}) => Promise<string>}
   */
  attach(note, blob, properties = {}) {
    // One after the other: two of the same are seen, and one of 100 MiB at a time is in memory.
    return this.#attaching = this.#attaching.catch(() => {}).then(() => this.#attach(note, blob, properties))
  }

  /** @type {(note: string, blob: Blob, properties: Properties & {uniqueID?: string}) => Promise<string>} */
  async #attach(note, blob, {mimeType = blob.type || "application/octet-stream", uniqueID = newID(), ...properties}) {
    const {limits, list, list: {memory}} = this
    const {registers} = this.live(note, "note")
    if (blob.size > limits.attachmentBytes) throw new StoreError("too-large")
    checkSize(properties.filename ?? "", limits.filenameBytes)
    checkSize(properties.preview ?? "", limits.previewBytes)
    const bytes = await blob.arrayBuffer().catch(error => { throw new StoreError("unreadable", error) })
    const hash = await hashOfFile(bytes)
    const held = Object.keys(registers).map(name => name.startsWith("attachments.") && list.resolve(name.slice(12)))
      .find(id => id && memory.entity(id)?.fixed.sha256 === hash)
    if (held) {
      await this.reattach(note, held)
      return held
    }
    const fixed = JSON.parse(JSON.stringify({mimeType, ...properties, byteCount: blob.size, sha256: hash}))
    await this.change(["meta", "unsent", "made", "bytes"], tx => {
      tx.put("made", {uniqueID, type: "attachment", fixed, needsBytes: true})
      // Not the file itself: that may change on the disk, and is not what was hashed then.
      tx.put("bytes", {uniqueID, blob: new Blob([bytes], {type: mimeType}), lastUse: Date.now()})
      return edit(tx, "note", note, `attachments.${uniqueID}`, true)
    })
    return uniqueID
  }

  /** How a person likes it in this browser. */
  settings = {
    /** @type {(name: string, otherwise?: any) => any} */
    get: (name, otherwise) => this.list.memory.meta.get("settings")?.[name] ?? otherwise,
    /** @type {(name: string, value: any) => Promise<void>} */
    set: (name, value) => this.change(["meta"], async tx => {
      tx.put("meta", {...await tx.get("meta", "settings"), [name]: value}, "settings")
    }),
  }

  /** Objects of which something is unsent. */
  unsentCount() {
    return this.list.memory.toSend().size
  }

  /**
   * When the next held deletion is due, in ms since 1970.
   * @returns {number | null}
   */
  nextDeletion() {
    const held = [...this.list.memory.deletions.values()].flatMap(one => one.heldUntil || [])
    return held.length ? Math.min(...held) : null
  }

  /**
   * What the server refused, each with its `key`.
   * @returns {any[]}
   */
  shelf() {
    return Array.from(this.list.memory.shelf, ([key, record]) => ({key, ...record}))
  }

  /**
   * What a person should hear of, each with its `key`.
   * @returns {any[]}
   */
  notices() {
    return Array.from(this.list.memory.notices, ([key, record]) => ({key, ...record}))
  }

  /** @param {number} key */
  dismiss(key) {
    return this.change(["notices"], tx => tx.delete("notices", key))
  }

  /** @param {number} key */
  takeOffShelf(key) {
    return this.change(["shelf"], tx => tx.delete("shelf", key))
  }

  /** Everything, for all tabs: "session" tells them. */
  erase() {
    return this.change(ALL_STORES, tx => ALL_STORES.forEach(store => tx.clear(store)))
  }
}
