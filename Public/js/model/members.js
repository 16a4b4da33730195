// Membership is read, not stored (merge.md, Membership).

/** @typedef {import("./entity.js").Entity} Entity */
/** @typedef {import("./entity.js").DeletedObject} DeletedObject */

/**
 * The live object that an ID stands for, through `mergedInto` as far as it goes; null if that is dead or unknown.
 * @param {string} id
 * @param {ReadonlyMap<string, DeletedObject>} deleted by uniqueID
 * @param {(id: string) => boolean} isLive
 * @returns {string | null}
 */
export const resolve = (id, deleted, isLive) => {
  // A ring, which only a faulty server could send, ends too.
  for (let steps = deleted.size; steps >= 0; steps--) {
    const gone = deleted.get(id)
    if (!gone) return isLive(id) ? id : null
    if (!gone.mergedInto) return null
    id = gone.mergedInto
  }
  return null
}

/**
 * A note's tags or attachments as a reader sees them, in the order of their clocks. Of several registers that lead to
 * one live object the greatest clock decides; of equal clocks, in stands.
 * @param {Entity} entity
 * @param {"tags" | "attachments"} kind
 * @param {ReadonlyMap<string, DeletedObject>} deleted
 * @param {(id: string) => boolean} isLive
 * @returns {string[]}
 */
export const membersOf = (entity, kind, deleted, isLive) => {
  /** @type {Map<string, import("./entity.js").Register>} */
  const decided = new Map()
  for (const attribute in entity.registers) {
    if (!attribute.startsWith(kind + ".")) continue
    const id = resolve(attribute.slice(kind.length + 1), deleted, isLive)
    if (!id) continue
    const register = entity.registers[attribute], standing = decided.get(id)
    if (standing && (standing[1] > register[1] || standing[1] === register[1] && standing[0])) continue
    decided.set(id, register)
  }
  return [...decided].filter(([, [isIn]]) => isIn)
    .sort(([a, [, one]], [b, [, other]]) => (one === other ? a < b : one < other) ? -1 : 1)
    .map(([id]) => id)
}
