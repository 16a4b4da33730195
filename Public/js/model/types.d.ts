// The shapes of the model. All are global in the scripts; no browser loads this file. Those of objects are in
// ../store/types.d.ts. A clock is its text of 46 characters, a date one of 24 (`2026-11-21T08:47:12.345Z`).

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
  /** For each phrase its terms, with a space before each. */
  needles: string[]
  /** Why it finds nothing, as the server would say (protocol.md, Resources). */
  problem: "too-long" | "too-many-terms" | null
}

/** What can be clicked in a text. Places are in UTF-16 code units. */
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
