// What the frame, the list and the editor hand each other, and every view. All are global in the scripts; no browser loads this file.

type Engine = import("../sync/engine.js").Engine
type Widgets = typeof import("./widgets.js")

/** What every view is given. */
interface Shell {
  copy: Copy
  engine: Engine
  /** Shows a route such as "#/note/…": `replace` without a way back, `write` with the note being written. */
  go(route: string, options?: { replace?: boolean; write?: boolean }): void
  /** Goes where the person came from, or to the list. */
  back(): void
  /** Says it if it fails. */
  attempt(promise: Promise<any>): Promise<any>
  /** Says it: the message of a StoreError is a sentence with the next step. */
  fail(error: any): void
  /** The note is not there any more. */
  gone(id: string): void
  toast: Widgets["toast"]
  announce: Widgets["announce"]
  dialog: Widgets["dialog"]
}

interface Pane {
  element: HTMLElement
  /** Stands over pages and in the tab. */
  title?: string
  /** Lets go of everything it listens to. */
  stop?(): void
  /** Puts the focus where one begins. */
  focus?(): void
  /** Of "attachments": adds files that were chosen, pasted or dropped; the note is there by then. */
  take?(files: File[]): void
}

interface Editor extends Pane {
  /** Has the text written in. */
  write(): void
  isWriting(): boolean
}

/** What can be done with a note; `archive` also takes out of the archive. */
type Commands = Record<"pin" | "archive" | "remove", (id: string) => void>

/** Keys: "/ Mod+k", each as in "Alt+ArrowUp", "n". */
type Shortcut = [group: string, does: string, keys: string, act: (event: KeyboardEvent) => void]

/** Which notes the list is about. */
interface Scope {
  tag: string | null
  archived: boolean
}

/** What the list needs of the frame. */
interface ListFrame {
  /** "look": the arrows go by; "write": a double click, or Enter once it is open. */
  open(id: string, how: "look" | "go" | "write"): void
  empty(scope: Scope, query: string): Element
  menu(row: HTMLElement, id: string): void
}

interface MenuItem {
  label: string
  icon: string
  act(): void
  looks?: string
  hint?: string
  checked?: boolean
}

/** What saving asks of the editor. */
interface Typing {
  /** The words now. */
  read(): string
  /** Saved: look whether something else came. */
  settled(): void
  failed(error: any): void
  /** Of a note that is made. */
  tags: string[]
}

/** Of what a dragged row is doing. */
interface Drag {
  id: string
  row: HTMLElement
  x: number
  y: number
  at: number
  to: number
  isOn: boolean
  tag?: Element | null
}
