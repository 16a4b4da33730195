// The shapes of the local copy: what IndexedDB keeps, and what a reader of the copy gets. All are global in the scripts
// of this folder and of those that use it; no browser loads this file.

// Objects as the server and this device know them (merge.md).

/** The value of an attribute and the clock of the edit that set it. */
type Register = [value: any, clock: string]

/** What is known of one object. */
interface Entity {
  uniqueID: string
  /** "note", "tag", "attachment", or the objectType that an app made up; "" while it is unknown. */
  type: string
  /** What is set once: `creationDate`; of an attachment what `Properties` has, `byteCount` and `sha256`. */
  fixed: Record<string, any>
  /** By attribute: "text", "archived", "tags.<uniqueID>", "attributes.pinned" … (merge.md, Edits). */
  registers: Record<string, Register>
  /** In the object store `objects`: its part of the digest in hex, "" while it does not exist. */
  hash?: string
}

interface DeletedObject {
  uniqueID: string
  objectType: string
  mergedInto?: string
  deletionDate?: string
}

// Records of the database, by the name of their object store.

/** `objects`: what the server acknowledged or sent. */
interface Held extends Entity {
  hash: string
  /** In the order of the list; the index of this name reads the newest notes first. */
  place?: number
}

/** `unsent`: an edit that the server has not acknowledged. */
interface Edit {
  uniqueID: string
  attribute: string
  /** Of its object. */
  type: string
  value: any
  clock: string
  /** Of a text: the version that it was made from, and its words. */
  base?: string | null
  baseValue?: string
}

/** `made`: a new object that the server has not acknowledged. */
interface Made {
  uniqueID: string
  type: string
  fixed: Record<string, any>
  /** An attachment whose bytes go up first. */
  needsBytes?: boolean
}

/** `deletions`: the object is hidden; the deletion is sent when `heldUntil` (ms since 1970) is past. 0: it is being sent. */
interface Deletion {
  uniqueID: string
  objectType: string
  heldUntil: number
}

/** `meta`, "session". */
interface Session {
  account: {uniqueID: string, email: string}
  device: {uniqueID: string, name: string}
  /** The server knows this session no more: whoever signs in again has to be the same account. */
  signedOut?: boolean
}

// What a reader of the copy gets.

/** A note with what is unsent; its members are resolved (merge.md, Membership). */
interface Note {
  uniqueID: string
  creationDate: string
  text: string
  title: string
  excerpt: string
  archived: boolean
  sortDate: string
  pinned: boolean
  tags: string[]
  attachments: string[]
  attributes: Record<string, any>
  /** The version of the text; null if nobody wrote any. */
  textClock: string | null
  isUnsent: boolean
}

interface Tag {
  uniqueID: string
  name: string
  /** Notes that have it and are not archived. */
  count: number
}

/** What is told of a file that is put on a note. */
interface Properties {
  mimeType?: string
  filename?: string
  width?: number
  height?: number
  /** Base64 of a small JPEG. */
  preview?: string
}

interface Attachment extends Properties {
  uniqueID: string
  mimeType: string
  byteCount?: number
  sha256?: string
  /** Whether its bytes are in this browser. */
  isHere: boolean
  isUnsent: boolean
}

/** What `createNote` is given; all of it has a default. */
interface NewNote {
  uniqueID?: string
  creationDate?: string
  text?: string
  tags?: string[]
  attachments?: string[]
  attributes?: Record<string, any>
  sortDate?: string
  archived?: boolean
}

// How the copy works.

/** What a transaction wrote: no `record` is a deletion, the key null all of the store. */
interface JournalLine {
  store: string
  key: any
  record: any
}

/** Whose change it is: this tab's, another tab's, the server's. */
type Origin = "here" | "tab" | "sync"

/** What a tab tells the others when it wrote: objects (null: anything) in stores, and the events to dispatch. */
interface Changed {
  ids: string[] | null
  stores: string[]
  events: string[]
  source: Origin
}

/** What the list keeps of a note. */
interface ListRow {
  id: string
  pinned: boolean
  archived: boolean
  sortDate: string
  text: string
  /** What a search looks through; null until somebody searches. */
  words: string | null
  /** Resolved; null until somebody asks. */
  tags: string[] | null
}

type Transaction = import("./transaction.js").Transaction
type NoteList = import("./note-list.js").NoteList
type Copy = import("./copy.js").Copy
