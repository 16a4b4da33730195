// The shapes of the model and what its functions do. All are global in the scripts; no browser loads this file. Objects are
// in ../store/types.d.ts. Hashes are SHA-256 and SHA-1 (FIPS 180-4), IDs UUIDs (RFC 9562). A clock is its text of 46 characters, a date one of 24 (`2026-11-21T08:47:12.345Z`), an ID a UUID
// in lower case. Places in a text are in UTF-16 code units.

/** What is kept of a `ClockSource`. */
interface SavedClock {
  /** Of the clocks that it ticked or saw; "" before the first. */
  greatest: string
  /** Of those that the server accepted or sent. */
  agreed: string
  /** What is added to the wall clock, in ms. */
  offset: number
}

/** A search as `matches` wants it. */
interface Query {
  /** For each phrase its terms, as `haystackOf` writes them. */
  needles: string[]
  /** Why it finds nothing, as the server would say (protocol.md, Resources). */
  problem: "too-long" | "too-many-terms" | null
}

/** What can be clicked in a text. */
interface Finding {
  kind: "link" | "mail" | "date"
  start: number
  end: number
  /** An http: or https: address, one of mailto:, or `2026-11-21` or `2026-11-21T14:30` in local time. */
  value: string
}

/** The pieces that are not added are the text before, those that are not removed the text after. */
interface Piece {
  kind: "same" | "removed" | "added"
  text: string
  /** Where it begins in the text before, and in the text after. */
  old: number
  now: number
}

/** Words of a text that are not in the one that stands, and what of it is there instead (protocol.md, Receipts). */
interface Superseded {
  text: string
  /** In UTF-16 code units. */
  location: number
  length: number
}

/** By uniqueID. */
type Graves = ReadonlyMap<string, DeletedObject>

interface Model {
  // entity.js: clocks (merge.md, Clocks)

  /** From milliseconds since 1970, of a year before 10000. */
  formatDate: (ms: number) => string
  /** Milliseconds since 1970; null if `formatDate` would not write it so. */
  parseDate: (text: string) => number | null
  /** Of milliseconds since 1970, a counter of 0 to 65535, and 16 hex digits. */
  makeClock: (ms: number, counter: number, node: string) => string
  /** A malformed one is a RangeError. */
  partsOf: (clock: string) => {milliseconds: number, counter: number, node: string}

  // entity.js: objects

  /** The list of `changes` that objects of a type are in (protocol.md, Sync). */
  sectionOf: (type: string) => string
  /** An object of which nothing is known yet. */
  emptyEntity: (uniqueID: string, type: string) => Entity
  registersOf: (edits: {attribute: string, value?: any, clock: string}[]) => Entity["registers"]
  /** From what sync, changes and feeds show of an object in a list of this name. */
  readState: (section: string, state: any) => Entity
  /** An element of a push, with all that the entity has; `textBase` is the caller's. */
  writeChange: (entity: Entity) => any
  /** What sync shows, with defaults, and members in their order (protocol.md, Two shapes). */
  writeState: (entity: Entity) => any
  /** Folds `from`, of the same object, in (merge.md, The fold). Whether anything changed. */
  fold: (into: Entity, from: Entity) => boolean
  /** Of two of one object: a target stands before none, the smaller of two, the earlier date. */
  foldDeleted: (a: DeletedObject, b: DeletedObject) => DeletedObject
  /** Whether it is there yet: edits that come before what makes it exist wait (merge.md, Edits). */
  exists: (entity: Entity) => boolean
  /** What an attribute is now, its default if nobody set it. */
  valueOf: (entity: Entity, attribute: string) => any
  /** What is hashed (merge.md, The digest). Names of attributes are ASCII: JavaScript's order is that of their bytes. */
  linesOf: (entity: Entity) => string[]
  /** Parts of the digest, 32 hex digits. */
  hashOf: (entity: Entity) => string
  hashOfDeleted: (deleted: DeletedObject) => string
  /** Two digests of 32 hex digits added, or one taken out of the other. */
  xor: (a: string, b: string) => string
  /** The live object that an ID stands for; null if that is dead or unknown (merge.md, Membership). */
  resolve: (id: string, deleted: Graves, isLive: (id: string) => boolean) => string | null
  rawMembers: (entity: Entity, kind: string) => {id: string, isIn: boolean, clock: string}[]
  /** A note's tags or attachments as a reader sees them, in the order of their clocks (merge.md, Membership). */
  membersOf: (entity: Entity, kind: string, deleted: Graves, isLive: (id: string) => boolean) => string[]

  // entity.js: hashes and IDs

  /** In hex. */
  sha256: (bytes: Uint8Array) => string
  sha1: (bytes: Uint8Array) => string
  /** SHA-256 in hex, by the browser's own where it may. */
  hashOfFile: (bytes: ArrayBuffer) => Promise<string>
  utf8: (text: string) => Uint8Array
  hex: (bytes: Uint8Array) => string
  unhex: (digits: string) => Uint8Array
  isID: (text: string) => boolean
  /** A random one. */
  newID: () => string
  /** That which a name has in a namespace, which is an ID: the same everywhere. */
  derivedID: (namespace: string, name: string) => string

  // text.js: terms and names. A word is one term, without case, compatible forms, and the accents that readers of its
  // script do without. Scripts without spaces (Thai to Tai, kana to Nushu) become pairs, and the last character alone. Letters
  // that Unicode does not decompose lose their stroke. Tests/Vectors/search-terms.json has it all.

  /** Unicode 15.1, each scalar by itself, whatever the browser has (Tests/Vectors/case-folding.json). */
  foldCase: (text: string) => string
  /** Tags whose folded names are the same string are one (merge.md, Tags). */
  foldName: (name: string) => string
  /** In order. */
  termsOf: (text: string) => string[]
  /** What to keep of a text to search in it: its terms, with a colon after the first character of each. */
  haystackOf: (text: string) => string
  /** From words and "phrases". Every word, and the last of a phrase, finds what begins with it. */
  queryOf: (text: string) => Query
  /** A query without words finds everything, a refused one nothing. */
  matches: (query: Query, haystack: string) => boolean

  // text.js: what is computed, and what differs

  /** The first line with words, at most 200 characters of it, without what Markdown begins it with; "" if there is none. */
  titleOf: (text: string) => string
  /** Some of what follows the title, on one line. */
  excerptOf: (text: string) => string
  /**
   * In order and apart from each other. A link has no punctuation or brackets of the sentence around it, a mail address is
   * not inside of a word or a link, a date not of something longer such as a version. What may be two dates is none. Of two
   * that overlap the first stands, of two that begin together the link.
   */
  findings: (text: string) => Finding[]
  /**
   * Lines first, then the words in what changed; where hardly a word is left, all of it counts as replaced, and
   * blanks and signs between two changes are changed with them. Never parts what
   * people see as one character. The work is bounded: beyond, all is changed.
   */
  difference: (before: string, after: string) => Piece[]
  /** The one stretch of `before` that `text` takes the place of in `after`: whole characters. */
  splice: (before: string, after: string) => {start: number, end: number, text: string}
  /** Where a place in `before` is in `after`: beside the same words, or as far into what took their place. */
  moveCaret: (place: number, before: string, after: string) => number
  /** What `mine` changed in `base`, done to `theirs`: null if they changed the same place. */
  rebase: (base: string, mine: string, theirs: string) => string | null
  /** The text that stands, with words put back that it took the place of. */
  putIn: (standing: string, superseded: Superseded[]) => string
}
