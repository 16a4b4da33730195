// The tree of tags: "work/mail" is below "work" (clients.md, Tags within tags).

const SEPARATOR = "/"

/** The parts of a name; the whole name if a part is empty, as in "a//b". */
const partsOf = name => {
  const parts = name.split(SEPARATOR)
  return parts.every(part => part.trim()) ? parts : [name]
}

/**
 * The key, as in addresses, of a name that is not a tag, but the beginning of the names of tags.
 *
 * @type {(path: string) => string}
 */
export const keyOf = path => `~${encodeURIComponent(path)}`

/**
 * The tags as a tree, and the number of notes of each tag.
 *
 * @param {{id: string, folded: string, name: string}[]} tags `folded`: the folded name
 * @param {string[][]} tagged the tags of each note that is counted
 * @returns {{nodes: TagNode[], counts: Map<string, number>}} nodes come before those below them
 */
export const tagTree = (tags, tagged) => {
  /** @type {Map<string, TagNode>} */
  const nodes = new Map()
  const above = new Map()
  for (const {id, folded, name} of tags) {
    const parts = partsOf(folded)
    const labels = parts.length > 1 ? partsOf(name) : [name]
    const nodesAbove = parts.map((_, at) => {
      const path = parts.slice(0, at + 1).join(SEPARATOR)
      const known = nodes.get(path)
      if (known) return known
      const node = {
        key: keyOf(path), tag: "", name: labels.slice(0, at + 1).join(SEPARATOR), label: labels[at], level: at + 1,
        path, hasChildren: false, ids: new Set(), count: 0,
      }
      nodes.set(path, node)
      return node
    })
    for (const node of nodesAbove) {
      node.ids.add(id)
      node.hasChildren ||= node !== nodesAbove.at(-1)
    }
    const own = /** @type {TagNode} */ (nodesAbove.at(-1))
    // Of several tags of one name, which the server will merge, the first one stays.
    if (!own.tag) Object.assign(own, {tag: id, key: id, name, label: labels.at(-1)})
    above.set(id, nodesAbove)
  }
  const counts = new Map()
  for (const ids of tagged) {
    for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1)
    for (const node of ids.length === 1 ? above.get(ids[0]) ?? [] : new Set(ids.flatMap(id => above.get(id) ?? []))) node.count++
  }
  const placeOf = ({path}) => partsOf(path).join("\0")
  return {nodes: [...nodes.values()].sort((a, b) => placeOf(a) < placeOf(b) ? -1 : 1), counts}
}
