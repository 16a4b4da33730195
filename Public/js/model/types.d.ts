// The shapes of the model's values. All are global in the scripts; no browser loads this file. Objects are in
// ../store/types.d.ts. A clock and a date are texts (clock.js), an ID is a UUID in lower case, a place in a text is in UTF-16
// code units.

/** The state of a `ClockSource` that is kept between sessions. */
interface SavedClock {
  /** The greatest clock that it ticked or observed; "" before the first. */
  greatest: string
  /** The greatest clock that the server accepted or sent. */
  agreed: string
  /** What is added to the wall clock to get the server's time, in ms. */
  offset: number
}

/** A search (search.js, `queryOf`). */
interface Query {
  parts: QueryPart[]
  /** Why it finds nothing, as the server would say (protocol.md, Resources). */
  problem: "too-long" | "too-many-terms" | null
}

interface QueryPart {
  /** "symbols" are searched for as they are typed. "pinned", "archived" and "file" have no value. */
  kind: "words" | "symbols" | "tag" | "pinned" | "archived" | "file"
  /** Of "words" as `haystackOf` writes them, of "tag" a folded name. */
  value: string
  /** Notes that have it are not found. */
  isExcluded: boolean
}

/** The data of a note that a search needs. */
interface Searchable {
  text: string
  haystack: string
  pinned: boolean
  archived: boolean
  /** IDs. */
  tags(): string[]
  hasFile(): boolean
}

/** What can be clicked in a text. */
interface Finding {
  kind: "link" | "mail" | "date"
  start: number
  end: number
  /** An http: or https: address, a mailto: address, or `2026-11-21` or `2026-11-21T14:30` in local time. */
  value: string
}

/** A picture in a text (marks.js). */
interface Mark {
  /** Of the attachment. */
  id: string
  /** The alternative text, "" if there is none. */
  alt: string
  start: number
  end: number
}

/** The pieces that are not "added" make up the text before, those that are not "removed" the text after. */
interface Piece {
  kind: "same" | "removed" | "added"
  text: string
  /** Where it begins in the text before, and in the text after. */
  old: number
  now: number
}

/** Words that a merge replaced, and the place in the merged text of what replaced them (protocol.md, Receipts). */
interface Superseded {
  text: string
  location: number
  length: number
}

/** Edits of a note without a long pause between them (sessions.js). */
interface WritingSession {
  /** Newest first. */
  edits: HistoryEdit[]
  /** The devices that made the edits, the last one first. */
  devices: {uniqueID: string, name?: string}[]
  /** The texts that the server merged. */
  merges: Set<HistoryEdit>
  /** The newest text of the session that the server still has. */
  text?: HistoryEdit
  /** The text before the session, as far as it is known. */
  before: string
}

/** DeletedObjects by uniqueID. */
type Graves = ReadonlyMap<string, DeletedObject>

/** An edit of a text: a positive number keeps that many code units, a negative number removes that many, a string is inserted. */
type Operation = (number | string)[]

/** The edits of one person in an open text. They can be undone and redone while other devices edit the text too. */
interface UndoHistory {
  /**
   * Records an edit of the person. `now` is the time in ms: typing without a pause is one step. `change` is what was replaced; if it is
   * not known, the texts are compared.
   */
  add(before: string, after: string, now: number, change?: {start: number, end: number, text: string}): void
  /** Adapts the recorded edits to an edit of another device, which undo never reverts. */
  transform(before: string, after: string): void
  /** Returns the text without the last edit, and the place of the caret. Null if there is nothing to undo. */
  undo(text: string): {text: string, caret: number} | null
  /** Returns the text with the edit that was undone last. Null if there is nothing to redo. */
  redo(text: string): {text: string, caret: number} | null
}

/** A part of a line whose characters have the same styles. */
interface LinePart {
  text: string
  /** Names of styles, separated by spaces, such as "bold mark"; "" if there are none. */
  looks: string
  /** The address of a link, the title of a linked note, a date, or the source and alternative text of a picture. */
  about?: any
}

/** The styles of a line of Markdown (markdown.js). */
interface LineLooks {
  /** The styles of the whole line, separated by spaces, such as "heading level-2". */
  kind: string
  /** The state in which the next line begins. */
  next: string
  /** The width of the beginning of a list item, in characters: wrapped lines begin below its text. */
  hang: number
  /** All characters of the line. */
  parts: LinePart[]
}

/** An edit of a text: `text` replaces what is between `start` and `end`; `select` is the selection after it. */
interface TextEdit {
  start: number
  end: number
  text: string
  select: number[]
}

/** The edit that a key makes in a text with this selection; null if it has no special effect (typing.js). */
type Typing = (text: string, start: number, end: number) => TextEdit | null

/** A part of a line in one style (writer.js). `raw`: the text is Markdown already. */
interface Run {
  text: string
  bold?: boolean
  italic?: boolean
  strike?: boolean
  code?: boolean
  href?: string
  raw?: boolean
}
