// The shapes of the pages and parts beside the list and the editor (frame.d.ts), and what dom.js has for all of them. No
// browser loads this file.

/** What goes into an element. `null`, `undefined` and `false` are left out; arrays may hold arrays. */
type Child = Node | string | number | null | undefined | false | any[]

/**
 * How views are built, in dom.js. Text only ever becomes text nodes: there are no HTML strings and no inline styles. A
 * view is `(app, id) => Pane`: it listens for itself, and lets go in `stop()`. What changes often is changed in place,
 * so that the focus stays.
 */
interface Dom {
  /** Puts these in place of what is in the element. Whatever is among them again keeps the focus. */
  fill(element: Element, ...children: Child[]): void
  /**
   * Fills it if it is about something else than the last time: the focus stays, and nothing is said twice. `content`:
   * what it is about, if that is a text.
   */
  tell(element: Element, about: any, content?: () => any): void
  /**
   * A copy of what a template of index.html holds, `element`, and its parts by their `data-part`. `values`: what parts
   * are filled with, or do when they are clicked, or properties of theirs; a part that is given nothing is left out.
   * In the template's texts and attributes "{name}" is a value, also "{account.email}"; "{name|bytes}" is put in that
   * format of dom.js: "ago" ("3 minutes ago"), "bytes" ("3.1 MB"), "day" (as short as it can be said today: "19:05",
   * "Yesterday", "3 Nov"), "date" ("3 November 2026 at 19:05"), "number"; "{count|note}" is counted: "3 notes". `data-if` names
   * a value without which an element is left out, `data-unless` one with which it is.
   */
  copyOf(id: string, values?: Record<string, any>): Record<string, any>
  /** The same, when its parts are of no interest. */
  viewOf(id: string, values?: Record<string, any>): any
  /** The same, as plain text. */
  wordsOf(id: string, values?: Record<string, any>): string
  /** The first of these templates that there is. */
  firstOf(...ids: string[]): string
  /** Shows how things stand, now and whenever one of these happens, until the function that it gives is called. */
  follow(show: () => void, ...events: [EventTarget, string][]): () => void
  /** Has screen readers say the words of a template. */
  announce(id: string, values?: Record<string, any>): void
  /**
   * A message at the foot of the page, gone after ten seconds, but not while it is pointed at or has the focus: the words of
   * a template, whose `data-label` is what it offers to do.
   */
  toast(id: string, values?: Record<string, any>, act?: () => void): void
  /** Does what the newest toast offers. */
  actOnToast(): void
  /**
   * A modal dialog with this in it, whose `data-title` stands above and whose `data-looks` are classes of the dialog.
   * Escape, a click beside it, each submit button of a form with method "dialog", and a link to another page close it.
   */
  dialog(content: HTMLElement): HTMLDialogElement
  /** A menu below its button, from a template: arrows, Home, End, Escape. The button has the focus when an entry acts. */
  menu(owner: HTMLElement, id: string, values: Record<string, any>): void
  /** What it is, and the next step; of index.html where the server's own words are not about this app. */
  /** The template that says what a StoreError or ArchiveError is and what to do next; "failed" of all else. */
  failureOf(error: any): string
  problemWords(error: any): HTMLElement
  /** A problem in its place; `again` tries again. */
  problemView(error: any, again?: () => any): HTMLElement
  /** Fills the place with what comes of the work, or with what went wrong, and a way to try again. */
  tryIn(place: Element, work: () => Promise<any>): Promise<void>
  /** Puts text into the clipboard, without a secure context too; `done` says so. */
  copyText(text: string, done?: string): void
  /** Keeps a file; whatever is in it, it never opens in this origin. */
  save(blob: Blob, name: string): void
}

/** What makes a view; `id` is that of the route, or of the note that it is about. */
type Opener = (app: Shell, id?: any) => Pane

/** Has a button, of the frame's parts `sync` and `standing`, say how sync stands. */
type Indicator = (app: Shell, parts: Record<string, any>) => () => void

/** A banner for each [template, values] that `look` finds, now and after these events; left alone while it finds the same. */
type Region = (look: () => any[], ...events: [EventTarget, string][]) => Pane
