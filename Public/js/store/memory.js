// What a tab has in memory: everything but bytes, as it is on the disk, and what of it a person sees.
import {exists, fold} from "../model/entity.js"


/** Stores that a tab reads again whole; of the others the objects that changed. */
export const WHOLE = ["shelf", "notices", "meta"]

export class Memory {
  /** @type {Map<string, Entity>} */
  objects = new Map()
  /** @type {Map<string, DeletedObject>} */
  deleted = new Map()
  /**
   * By ID and attribute.
   * @type {Map<string, Map<string, Edit>>}
   */
  unsent = new Map()
  /** @type {Map<string, Made>} */
  made = new Map()
  /** @type {Map<string, Deletion>} */
  deletions = new Map()
  /**
   * Whose bytes are here.
   * @type {Map<string, true>}
   */
  bytes = new Map()
  /** @type {Map<number, any>} */
  shelf = new Map()
  /** @type {Map<number, any>} */
  notices = new Map()
  /** @type {Map<string, any>} */
  meta = new Map()
  /**
   * Objects with what is unsent of them.
   * @type {Map<string, Entity>}
   */
  #folded = new Map()

  /**
   * Takes in what was written; the ID of the object that it is of.
   * @type {(line: JournalLine) => string | undefined}
   */
  take({store, key, record}) {
    /** @type {Map<any, any> | undefined} */
    const map = /** @type {any} */ (this)[store]
    if (!map) return undefined // uploads, relays: the engine's
    if (key === null) {
      this.#folded.clear()
      map.clear()
      return undefined
    }
    if (WHOLE.includes(store)) {
      record === undefined ? map.delete(key) : map.set(key, record)
      return undefined
    }
    const [id, attribute] = [key].flat()
    this.#folded.delete(id)
    let value = store === "bytes" ? record && true : record
    if (store === "unsent") {
      // An array is all that is unsent of the object.
      /** @type {Map<string, Edit>} */
      const edits = new Map(attribute ? this.unsent.get(id) : [])
      for (const edit of attribute ? [record] : record) edit ? edits.set(edit.attribute, edit) : edits.delete(attribute)
      value = edits.size ? edits : undefined
    }
    value ? map.set(id, value) : map.delete(id)
    return id
  }

  /**
   * What is known of an object with what is unsent of it, also if it is deleted.
   * @type {(id: string) => Entity | undefined}
   */
  known(id) {
    const stored = this.objects.get(id), made = this.made.get(id), unsent = this.unsent.get(id)
    if (!made && !unsent || this.#folded.has(id)) return this.#folded.get(id) ?? stored
    const edits = [...unsent?.values() ?? []]
    const type = (stored ?? made ?? edits[0]).type
    /** @type {Entity["registers"]} */
    const registers = Object.fromEntries(edits.map(({attribute, value, clock}) => [attribute, [value, clock]]))
    /** @type {Entity} */
    const folded = {uniqueID: id, type, fixed: {...stored?.fixed}, registers: {...stored?.registers}}
    fold(folded, {uniqueID: id, type, fixed: made?.fixed ?? {}, registers})
    // Not by its clock: while text is unsent it is left alone (clients.md, rule 3).
    if (registers.text) folded.registers.text = registers.text
    this.#folded.set(id, folded)
    return folded
  }

  /**
   * What a person sees: not what is deleted, or about to be.
   * @type {(id: string) => Entity | undefined}
   */
  entity(id) {
    const entity = this.deleted.has(id) || this.deletions.has(id) ? undefined : this.known(id)
    return entity && exists(entity) ? entity : undefined
  }

  /**
   * Of all objects that something is known of.
   * @type {() => Set<string>}
   */
  ids() {
    return new Set([...this.objects.keys(), ...this.toSend()])
  }

  /**
   * Of what is to be sent.
   * @type {() => Set<string>}
   */
  toSend() {
    return new Set([...this.unsent.keys(), ...this.made.keys(), ...this.deletions.keys()])
  }
}
