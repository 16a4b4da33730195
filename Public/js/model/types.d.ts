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

/** A search as `matches` wants it. */
interface Query {
  /** For each word or phrase its terms, as `haystackOf` writes them. */
  needles: string[]
  /** Why it finds nothing, as the server would say (protocol.md, Resources). */
  problem: "too-long" | "too-many-terms" | null
}

/** What can be clicked in a text. */
interface Finding {
  kind: "link" | "mail" | "date"
  start: number
  end: number
  /** An http: or https: address, a mailto: address, or `2026-11-21` or `2026-11-21T14:30` in local time. */
  value: string
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

/** DeletedObjects by uniqueID. */
type Graves = ReadonlyMap<string, DeletedObject>

/** An edit of a text: a positive number keeps that many code units, a negative number removes that many, a string is inserted. */
type Operation = (number | string)[]

/** The edits of one person in an open text. They can be undone and redone while other devices edit the text too. */
interface UndoHistory {
  /** Records an edit of the person. `now` is the time in ms: typing without a pause is one step. */
  add(before: string, after: string, now: number): void
  /** Adapts the recorded edits to an edit of another device, which undo never reverts. */
  transform(before: string, after: string): void
  /** Returns the text without the last edit, and the place of the caret. Null if there is nothing to undo. */
  undo(text: string): {text: string, caret: number} | null
  /** Returns the text with the edit that was undone last. Null if there is nothing to redo. */
  redo(text: string): {text: string, caret: number} | null
}
