// What a tab holds in memory: everything but bytes, as it is on the disk, and what of it a person sees.
import {exists, fold} from "../model/entity.js"

/** @typedef {import("../model/entity.js").Entity} Entity */
/** @typedef {import("../model/entity.js").DeletedObject} DeletedObject */
/**
 * An edit that the server has not acknowledged; `base`, `baseValue`: the version of the text that it was made from.
 * @typedef {{uniqueID: string, attribute: string, type: string, value: any, clock: string, base?: string,
 *   baseValue?: string}} Unsent
 */
/** @typedef {{uniqueID: string, type: string, fixed: Object<string, any>, needsBytes?: boolean}} Made */
/** @typedef {{uniqueID: string, objectType: string, heldUntil: number}} Deletion `heldUntil` in ms; 0: taken to be sent */
/** @typedef {import("./transaction.js").Line} Line */

/** What is in memory of an object, by the store that it is in. */
export const BY_ID = ["objects", "deleted", "made", "deletions"]
/** What is in memory whole. */
export const WHOLE = ["shelf", "notices", "meta"]

export class Memory {
  /** @type {Map<string, Entity>} */
  objects = new Map()
  /** @type {Map<string, DeletedObject>} */
  deleted = new Map()
  /** @type {Map<string, Map<string, Unsent>>} */
  unsent = new Map()
  /** @type {Map<string, Made>} */
  made = new Map()
  /** @type {Map<string, Deletion>} */
  deletions = new Map()
  /**
   * IDs of the attachments whose bytes are here.
   * @type {Set<string>}
   */
  bytes = new Set()
  /** @type {Map<IDBValidKey, any>} */
  shelf = new Map()
  /** @type {Map<IDBValidKey, any>} */
  notices = new Map()
  /** @type {Map<IDBValidKey, any>} */
  meta = new Map()
  /**
   * Objects with what is unsent folded in.
   * @type {Map<string, Entity>}
   */
  #folded = new Map()

  /**
   * Takes in what was written; the ID of the object that it is about.
   * @param {Line} line @returns {string | null}
   */
  take({store, key, record}) {
    if (store === "uploads" || store === "relays") return null
    if (key === null) {
      this.#mapOf(store).clear()
      this.#folded.clear()
      return null
    }
    if (WHOLE.includes(store)) {
      if (record === undefined) this.#mapOf(store).delete(key)
      else this.#mapOf(store).set(key, record)
      return null
    }
    const id = /** @type {string} */ (Array.isArray(key) ? key[0] : key)
    this.#folded.delete(id)
    if (store === "unsent") this.#takeUnsent(id, Array.isArray(key) ? String(key[1]) : null, record)
    else if (store === "bytes") record ? this.bytes.add(id) : this.bytes.delete(id)
    else if (record) this.#mapOf(store).set(id, record)
    else this.#mapOf(store).delete(id)
    return id
  }

  /** @param {string} store @returns {Map<any, any>} */
  #mapOf(store) {
    return /** @type {any} */ (this)[store]
  }

  /**
   * One edit, or (`attribute` null) all of an object.
   * @param {string} id @param {string | null} attribute @param {any} record
   */
  #takeUnsent(id, attribute, record) {
    /** @type {Map<string, Unsent>} */
    const edits = (attribute !== null && this.unsent.get(id)) || new Map()
    for (const edit of attribute === null ? record : [record]) {
      if (edit) edits.set(edit.attribute, edit)
      else edits.delete(String(attribute))
    }
    if (edits.size) this.unsent.set(id, edits)
    else this.unsent.delete(id)
  }

  /**
   * What of an object is known here, unsent edits folded in, also if it is deleted.
   * @param {string} id
   */
  known(id) {
    const stored = this.objects.get(id), made = this.made.get(id), unsent = this.unsent.get(id)
    if (!made && !unsent) return stored
    const standing = this.#folded.get(id)
    if (standing) return standing
    const type = stored?.type || made?.type || [...unsent?.values() ?? []][0].type
    /** @type {Entity} */
    const folded = {uniqueID: id, type, fixed: {...stored?.fixed}, registers: {...stored?.registers}}
    /** @type {Object<string, [any, string]>} */
    const registers = {}
    for (const edit of unsent?.values() ?? []) registers[edit.attribute] = [edit.value, edit.clock]
    fold(folded, {uniqueID: id, type, fixed: made?.fixed ?? {}, registers})
    // Text is not folded while an edit of it is unsent: the server merges it (clients.md, rule 3).
    if (registers.text) folded.registers.text = registers.text
    this.#folded.set(id, folded)
    return folded
  }

  /**
   * What a person sees of an object: undefined if it is deleted, or a deletion is held.
   * @param {string} id
   */
  entity(id) {
    if (this.deleted.has(id) || this.deletions.has(id)) return undefined
    const entity = this.known(id)
    return entity && exists(entity) ? entity : undefined
  }

  /**
   * IDs of all objects that something is known of.
   * @returns {Set<string>}
   */
  ids() {
    return new Set([...this.objects.keys(), ...this.made.keys(), ...this.unsent.keys()])
  }

  /**
   * IDs of what is to be sent.
   * @returns {Set<string>}
   */
  toSend() {
    return new Set([...this.unsent.keys(), ...this.made.keys(), ...this.deletions.keys()])
  }
}
