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
  /** Of attachments: adds files that were chosen, pasted or dropped, to a note that exists. */
  take?(files: File[]): void
}

interface Editor extends Pane {
  /** Opens the text for editing. */
  write(place?: number): void
  isWriting(): boolean
}

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
  /** Moves a note by so many places. */
  shift(id: string, by: number): void
}

/** "look": the arrow keys moved to it; "go": a click or Enter; "write": a double click, or Enter when it is open. */
type OpenNote = (id: string, how: "look" | "go" | "write") => void

/** Of the frame's parts `box`, `run`, `mark`, `nothing` and `input`. */
type ListPane = (app: Shell, parts: Record<string, any>, open: OpenNote) => NoteList

/** `tags`: those of a note that does not exist yet. */
type NoteView = (app: Shell, id: string, tags: string[]) => Editor

/** Of the frame's parts `side`, `tags`, `all`, `archived`, `account` and `look`. */
type SidePane = (app: Shell, parts: Record<string, any>) => {
  /** Marks the link of the route that is shown. */
  current(href?: string): void
  focus(): void
}

/**
 * The tags of a note: an ARIA combobox of the editor's parts `field`, `chips`, `input` and `options`, which suggests names that
 * begin with what is typed first. `read` returns the note's tags, `ensure` creates the note if it does not exist yet. The
 * function that is returned updates it.
 */
type TagField = (
  app: Shell, parts: Record<string, any>, read: () => string[], ensure: () => Promise<string>) => () => void
