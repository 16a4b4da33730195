// The data of each note that lists and searches need, derived from the mirror in memory.
import {editedAt, valueOf} from "../model/entity.js"
import {linkedTitles} from "../model/links.js"
import {finderOf, haystackOf, queryOf} from "../model/search.js"
import {titleOf} from "../model/text.js"

const collator = new Intl.Collator()
const descending = (a, b) => a < b ? 1 : a > b ? -1 : 0
/** Untitled notes are at the end of the order of titles. */
const ORDERS = {
  edited: (a, b) => descending(a.edited, b.edited),
  created: (a, b) => descending(a.created, b.created),
  title: (a, b) => +!a.title - +!b.title || collator.compare(a.title, b.title) || descending(a.edited, b.edited),
  hand: (a, b) => descending(a.sortDate, b.sortDate),
}
/** The properties that determine the orders. When a title changes, so does `edited`. */
const SORTED_BY = ["pinned", "edited", "created", "sortDate"]

/** One note. Values that take time are computed when they are first needed. @implements {Searchable} */
class Row {
  #membersOf
  #title
  #links
  #haystack
  #tags
  #hasFile

  constructor(entity, membersOf, before) {
    this.id = entity.uniqueID
    this.text = valueOf(entity, "text")
    this.archived = valueOf(entity, "archived")
    this.pinned = valueOf(entity, "attributes.pinned") === true
    this.edited = editedAt(entity)
    this.created = entity.fixed.creationDate
    this.sortDate = valueOf(entity, "sortDate")
    this.#membersOf = membersOf
    if (before?.text !== this.text) return
    this.#title = before.#title
    this.#links = before.#links
    this.#haystack = before.#haystack
  }

  get title() {
    return this.#title ??= titleOf(this.text)
  }

  /** The folded titles of the notes that it links to. */
  get links() {
    return this.#links ??= linkedTitles(this.text)
  }

  get haystack() {
    return this.#haystack ??= haystackOf(this.text)
  }

  get isPrepared() {
    return this.#haystack !== undefined
  }

  tags() {
    return this.#tags ??= this.#membersOf(this.id, "tags")
  }

  hasFile() {
    return this.#hasFile ??= this.#membersOf(this.id, "attachments").length > 0
  }

  forgetMembers() {
    this.#tags = this.#hasFile = undefined
  }
}

/** The rows of all notes. */
export class Rows {
  #membersOf
  /** By ID. @type {Map<string, Row>} */
  #rows = new Map()
  /** The order of `#rows`; "" if they must be sorted again. */
  #order = ""

  /** @param {(note: string, kind: "tags" | "attachments") => string[]} membersOf */
  constructor(membersOf) {
    this.#membersOf = membersOf
  }

  /** Brings the row of a note up to date. */
  set(entity) {
    const before = this.#rows.get(entity.uniqueID)
    const row = new Row(entity, this.#membersOf, before)
    this.#rows.set(row.id, row)
    if (!before || SORTED_BY.some(name => before[name] !== row[name])) this.#order = ""
  }

  delete = id => this.#rows.delete(id)

  /** Must be called when a tag or attachment has been added or removed: any note may have it. */
  forgetMembers() {
    for (const row of this.#rows.values()) row.forgetMembers()
  }

  /** The sorted rows are kept, because sorting again is fast when few of them have changed. */
  #sorted(order) {
    const rows = [...this.#rows.values()]
    if (this.#order === order) return rows
    rows.sort((a, b) => +b.pinned - +a.pinned || ORDERS[order](a, b) || descending(a.id, b.id))
    this.#rows = new Map(rows.map(row => [row.id, row]))
    this.#order = order
    return rows
  }

  /** See `LocalCopy`, `prepareSearch`. */
  prepare(most) {
    const end = performance.now() + most
    for (const row of this.#rows.values()) {
      if (row.isPrepared) continue
      if (performance.now() > end) return false
      row.haystack
    }
    return true
  }

  /**
   * See `LocalCopy`, `notes`.
   *
   * @param {{query: string, tags: Set<string> | null, archived: boolean | null, order: ListOrder, arePrepared: boolean}} filter
   * `tags`: notes that have one of these
   * @param {{id: string, name: string}[]} names of tags, folded
   */
  find({query, tags, archived, order, arePrepared}, names) {
    const isFound = query && finderOf(queryOf(query), names)
    return this.#sorted(order).filter(row => (archived === null || row.archived === archived)
      && (!tags || row.tags().some(id => tags.has(id)))
      && (!isFound || (row.isPrepared || !arePrepared) && isFound(row))).map(row => row.id)
  }

  /** How many of these notes are pinned, and how many are archived. */
  flags(ids) {
    const rows = ids.flatMap(id => this.#rows.get(id) ?? [])
    return {pinned: rows.filter(row => row.pinned).length, archived: rows.filter(row => row.archived).length}
  }

  /** Notes with a title, the last edited first. */
  titles = () => this.#sorted("edited").flatMap(({id, title}) => title ? [{id, title}] : [])

  /** The notes that link to a folded title. */
  linkingTo = title => [...this.#rows.values()].filter(({links}) => links.includes(title)).map(({id}) => id)

  counts() {
    const archived = [...this.#rows.values()].filter(row => row.archived).length
    return {notes: this.#rows.size - archived, archived}
  }

  /** The tags of each note that is not archived. */
  tagged = () => [...this.#rows.values()].filter(row => !row.archived).map(row => row.tags())
}
