// What the frame, the list and the editor hand each other, and every view. All are global in the scripts; no browser loads this file.

type Engine = SyncEngine

interface Event {
  /** Of the events of the copy and of the engine. */
  readonly detail: any
}

interface Element {
  /** As all that this page has. */
  focus(options?: FocusOptions): void
}

/** What every view is given. */
interface Shell {
  copy: Copy
  engine: Engine
  /** Shows a route such as "#/note/…": `replace` without a way back, `write` with the note being written, at a place. */
  go(route: string, options?: { replace?: boolean; write?: boolean | number }): void
  /** Says it if it fails. */
  attempt(promise: Promise<any>): Promise<any>
  /** Says what was done, in the words of a template, which offers to undo it. */
  undoable(work: Promise<any>, undo: () => Promise<any>, said: string, values?: Record<string, any>): Promise<any>
  /** Says it, with the next step. */
  fail(error: any): void
  /** The note is not there any more. */
  gone(id: string): void
}

interface Pane {
  /** Of a page: its `data-title` stands over it and in the tab. */
  element: HTMLElement
  /** Lets go of everything it listens to. */
  stop?(): void
  /** Puts the focus where one begins. */
  focus?(): void
  /** Of "attachments": adds files that were chosen, pasted or dropped; the note is there by then. */
  take?(files: File[]): void
}

interface Editor extends Pane {
  /** Has the text written in. */
  write(place?: number): void
  isWriting(): boolean
}

/** Which notes the list is about. */
interface Scope {
  /** "": any. */
  tag: string
  archived: boolean
}

interface NoteList {
  /** Moves the focus to the row of a note; without one to that of the open note. */
  focus(id?: string): void
  /** The note whose row has the focus, or "". */
  focused(): string
  show(scope: Scope): void
  /** Marks the note that is open. */
  select(id: string): void
  /** The note in its place when this one goes. */
  after(id: string): string
  /** Moves a note by so many places. */
  shift(id: string, by: number): void
}

/** "look": the arrows go by; "write": a double click, or Enter once it is open. */
type OpenNote = (id: string, how: "look" | "go" | "write") => void

/** Of the frame's parts `box`, `run`, `mark`, `nothing` and `input`. */
type ListPane = (app: Shell, parts: Record<string, any>, open: OpenNote) => NoteList

/** `tags`: those of a note that is not there yet. */
type NoteView = (app: Shell, id: string, tags: string[]) => Editor

/** Of the frame's parts `side`, `tags`, `all`, `archived`, `account` and `look`. */
type SidePane = (app: Shell, parts: Record<string, any>) => {
  /** Marks the link of the route that is shown. */
  current(href?: string): void
  focus(): void
}

/**
 * An ARIA combobox under a note, of the editor's parts `field`, `chips`, `input` and `options`: suggests first names that
 * begin like what is typed. `read` gives the tags of the note, `ensure` makes it if it is not there yet. What it gives
 * brings it up to date.
 */
type TagField = (
  app: Shell, parts: Record<string, any>, read: () => string[], ensure: () => Promise<string>) => () => void
