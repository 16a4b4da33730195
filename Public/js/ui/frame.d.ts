// The interfaces of the frame, the side, the list and the editor. All types are global in the scripts; no browser loads this file.

type Engine = SyncEngine

interface Event {
  /** Of events of the copy and the engine. */
  readonly detail: any
}

interface Element {
  /** All elements of this page can have the focus. */
  focus(options?: FocusOptions): void
}

/** What every view gets. */
interface Shell {
  /** The field of the search. */
  searchBox: HTMLInputElement
  copy: Copy
  engine: Engine
  /** Shows a route such as "#/note/…": `replace` replaces the entry of the history, `write` opens the note for editing, at a place. */
  go(route: string, options?: { replace?: boolean; write?: boolean | number }): void
  /** Shows a message if the promise is rejected. */
  attempt(promise: Promise<any>): Promise<any>
  /** Shows a message of a template, with a button that undoes what was done. */
  undoable(work: Promise<any>, undo: () => Promise<any>, said: string, values?: Record<string, any>): Promise<any>
  /** Shows what went wrong. */
  fail(error: any): void
  /** Leaves a note that was deleted. */
  gone(id: string): void
}

interface Pane {
  /** Of a page: its `data-title` is the heading and the title of the tab. */
  element: HTMLElement
  /** Removes all listeners. */
  stop?(): void
  /** Focuses the first thing to use. */
  focus?(): void
  /** Of the pane of attachments: the element that is shown beside a mark in the text. */
  embed?(mark: {id: string, alt: string}): Embed
}

/**
 * Adds files that were chosen, pasted or dropped to a note that exists. Returns the marks of the pictures among them, each on a
 * line, to be put into the text; "" if there are none. Errors are shown.
 */
type InsertFiles = (app: Shell, note: string, files: Iterable<File>) => Promise<string>

/**
 * Prepares a text for being inserted into a note that exists: copies the attachments of other notes that its marks name, and the
 * pictures whose bytes are in it, into the note. Returns the text with the marks of the copies.
 */
type AdoptMarks = (app: Shell, note: string, text: string) => Promise<string>

/** The text that is pasted: the HTML as Markdown, or else the plain text. Its marks must be adopted: see AdoptMarks. */
type PastedText = (html: string, plain: string) => Promise<string>

/** The attachment that a mark stands for; null if the note does not have it. Then `name` is shown. */
type PictureOf = (copy: Copy, note: string, mark: Mark) => {attachment: Attachment | null, name: string}

interface Editor extends Pane {
  /** Puts the caret into the text: where it was, or at a place. */
  write(place?: number): void
  /** Whether the text has the focus. */
  isWriting(): boolean
}

/** An element in the text that shows what a mark names. It contains no text. */
interface Embed {
  key: string
  make(): HTMLElement
}

/** The events of a surface. */
interface SurfaceEvents {
  /** The person edits the text. The note shows the result. */
  edit(edit: TextEdit): void
  /** The browser has changed the text itself, in a composition or by a spelling correction. */
  typed(text: string): void
  /** A composition ended. */
  composed(): void
  /** Text from another place is dropped at the caret. */
  paste(data: DataTransfer): void
  enter(): void
  /** "undo" or "redo". */
  move(name: string): void
  /** "bold", "italic". */
  command(name: string): void
  /** A click on a check box, and the place of its mark in the text. */
  box(place: number): void
  /** A click on a link, a date, or a link to a note. */
  follow(kind: "link" | "date" | "note", value: string): void
  /** The element that is shown beside the mark of a picture; null for none. It is replaced only if its key changes. */
  embed(mark: {id: string, alt: string}): Embed | null
}

/** The element in which the text of a note is edited, styled or plain. Places are offsets in the text. */
interface Surface {
  element: HTMLElement
  /** Shows a text and selects a part of it. Without `selection`, the selection stays at the same places. */
  show(text: string, selection?: number[]): void
  /** The start and the end of the selection; of the last one if the text does not have the focus. */
  selected(): [number, number]
  select(start: number, end?: number): void
  /** A part of the text as a range of the document; null in a text area. */
  rangeOf(start: number, end: number): Range | null
  /** The place at a point of the viewport. */
  placeAt(x: number, y: number): number
  /** Updates the elements beside the marks of pictures. */
  refresh(): void
  /** Scrolls until a place is in view. */
  reveal(place: number): void
  /** The position of a place in the viewport. */
  boxOf(place: number): DOMRect
  isComposing(): boolean
  focus(): void
}

type SurfaceOf = (element: any, on: SurfaceEvents) => Surface

/** The text of the open note, for its links and the matches in it. */
interface NoteText {
  text(): string
  surface(): Surface
  apply(edit: TextEdit): void
}

interface NoteLinks {
  /** A list of titles at the caret, and the list of notes that link to this one. */
  options: HTMLElement
  backlinks: HTMLElement
  /** Offers titles if the caret is in a link that is being typed. */
  suggest(): void
  close(): void
  /** Whether the list of titles used this key. */
  onkey(name: string): boolean
  /** Opens the note of a link, or creates it. */
  open(inner: string): void
  /** Offers to change the links to this note if its title has changed. */
  offer(): void
  stop(): void
}

interface NoteMatches {
  /** The buttons for the next and the previous match. */
  element: HTMLElement
  /** Highlights again soon: the text has changed. */
  update(): void
  /** Highlights the matches, and goes to the first one. */
  begin(): void
  stop(): void
}

type MatchesOf = (app: Shell, text: NoteText) => NoteMatches

type LinksOf = (app: Shell, id: string, text: NoteText) => NoteLinks

/** Which notes the list shows. */
interface Scope {
  /** An ID; "": any. */
  tag: string
  archived: boolean
}

interface NoteList {
  /** Focuses the row of a note; without an ID that of the open note. */
  focus(id?: string): void
  /** The note whose row has the focus, or "". */
  focused(): string
  show(scope: Scope): void
  /** Marks the open note. */
  select(id: string): void
  /** The note that takes the place of this one when it is removed. */
  after(id: string): string
  /** Moves a note by so many places, if the list is sorted manually. */
  shift(id: string, by: number): void
  /** Several notes that are selected, in the order of the list; none while only one is open. */
  selected(): string[]
  /** Ends the selection of several notes. Whether there was one. */
  endSelection(): boolean
}

/** Drags rows of the list, of its parts `box` and `mark`. */
type RowDrag = (parts: Record<string, any>, list: {
  /** Of a row, in px. */
  height: number
  isAllowed(): boolean
  placeOf(row: HTMLElement): number
  /** The number of rows. */
  count(): number
  /** Shows a row or the mark at a place, which may be between two. */
  place(element: HTMLElement, at: number): void
  move(row: HTMLElement, to: number): void
}) => {
  isOn(): boolean
  /** Whether a click belongs to a drag. */
  isRecent(): boolean
}

/** Swipes rows of the list. `show` adds the buttons below a row: its parts `pin` and `archive` are those that long swipes press. */
type RowSwipe = (box: HTMLElement, list: {
  isAllowed(): boolean
  show(row: HTMLElement): Record<string, any>
}) => {
  close(): void
  /** Whether a click belongs to a swipe. */
  isRecent(): boolean
}

/** The selection of several notes. `ids` are those of the list, `draw` is called when it changed. */
type RowSelection = (app: Shell, parts: Record<string, any>, ids: () => string[], draw: () => void) => {
  isOn(): boolean
  /** Whether every click selects, because the person chose "Select". */
  isPicking(): boolean
  has(id: string): boolean
  /** In the order of the list. */
  ids(): string[]
  /** Adds or removes a note. `first`: the open note, which belongs to a selection that begins. */
  toggle(id: string, first?: string): void
  /** Selects from the last note that was added to this one; `from` is where a selection begins. */
  extend(id: string, from: string): void
  all(): void
  /** Begins a selection by clicks. */
  pick(id: string): void
  end(): boolean
  /** Drops notes that have left the list. */
  follow(): void
}

/** Actions on the selected notes (bulk.js). */
type BulkActions = Record<"archive" | "pin" | "remove" | "tag", (app: Shell, list: NoteList) => Promise<void>>

/** "look": the arrow keys moved to it; "go": a click or Enter; "write": a double click, or Enter when it is open. */
type OpenNote = (id: string, how: "look" | "go" | "write") => void

/** Of the frame's parts `listPane`, `box`, `run`, `mark`, `nothing`, `input`, `sort`, `bar` and `picked`. */
type ListPane = (app: Shell, parts: Record<string, any>, open: OpenNote) => NoteList

/** `tags`: those of a note that does not exist yet. */
type NoteView = (app: Shell, id: string, tags: string[]) => Editor

/** Of the frame's parts `side`, `all`, `archived`, `tags`, `filter`, `account`, `look` and `language`. */
type SidePane = (app: Shell, parts: Record<string, any>) => {
  /** Marks the link of the route that is shown. */
  current(href?: string): void
  focus(): void
}

/**
 * The tags of a note: an ARIA combobox that suggests names that begin with what is typed first. `read` returns the note's tags,
 * `ensure` creates the note if it does not exist yet. `update` shows the tags.
 */
type TagField = (app: Shell, read: () => string[], ensure: () => Promise<string>) => {element: HTMLElement, update(): void}
