// The history of a note as sessions of writing, which people recognize better than single edits.

/** Edits with longer pauses between them belong to different sessions, in ms. */
const PAUSE = 600_000
/** The text that caused a merge is pushed immediately before the server merges it, in ms. */
const MERGE_TIME = 1_000

const words = new Intl.Segmenter(undefined, {granularity: "word"})
const countWords = text => Array.from(words.segment(text)).filter(({isWordLike}) => isWordLike).length

/** When an edit was made, in ms since 1970: the time in its clock (merge.md, Clocks). @type {(edit: HistoryEdit) => number} */
export const timeOf = ({clock}) => Date.parse(clock.slice(0, 24))

/**
 * The device or access token that made an edit. Plain requests have clocks of the server; `pushedBy` is who sent them.
 *
 * @type {(edit: HistoryEdit, server: string) => HistoryEdit["device"]}
 */
export const authorOf = ({device, pushedBy}, server) => device.uniqueID === server && pushedBy || device

/** The time between the server's receiving two edits, in ms. */
const arrivalGap = (a, b) => Math.abs(Date.parse(a.pushedAt) - Date.parse(b.pushedAt))

/**
 * The edits of a history, newest first, grouped into sessions: the edits of one device or access token without a long pause, of all
 * attributes. A text that the server merged belongs to one session with the two texts before it: the one that caused the merge and the
 * one that it was merged with.
 *
 * @param {HistoryEdit[]} edits
 * @param {string} server the server's node
 * @returns {WritingSession[]}
 */
export const sessionsOf = (edits, server) => {
  const isText = ({attribute}) => attribute === "text"
  const isServer = ({device}) => device.uniqueID === server
  const nextText = edits.map(() => /** @type {HistoryEdit | undefined} */ (undefined))
  for (let i = edits.length - 1; i > 0; i--) nextText[i - 1] = isText(edits[i]) ? edits[i] : nextText[i]
  const author = edit => authorOf(edit, server).uniqueID
  /**
   * A merge is pushed by the device whose text caused it. The server also writes for apps that use plain requests, and after a device
   * was reported lost. Those texts are not merged.
   */
  const isMerge = (edit, older) => isServer(edit) && isText(edit) && older && !isServer(older)
    && edit.pushedBy?.uniqueID === (older.pushedBy ?? older.device).uniqueID && arrivalGap(edit, older) <= MERGE_TIME

  /** @type {WritingSession[]} */
  const sessions = []
  let newer = edits[0]
  let wasMerge = false
  let toMerge = 0 // how many of the next texts were merged
  for (const [i, edit] of edits.entries()) {
    let last = sessions.at(-1)
    const merges = isMerge(edit, nextText[i])
    const isSame = author(newer) === author(edit) || merges || toMerge > 0
    const pause = wasMerge ? arrivalGap(newer, edit) : Math.abs(timeOf(newer) - timeOf(edit))
    if (!last || !isSame || pause > PAUSE) {
      sessions.push(last = {edits: [], devices: [], merges: new Set(), before: "", text: undefined})
      toMerge = 0
    }
    last.edits.push(edit)
    if (merges) last.merges.add(edit)
    if (merges) toMerge = 2
    else if (isText(edit)) toMerge--
    if (!merges && !last.devices.some(({uniqueID}) => uniqueID === author(edit))) last.devices.push(authorOf(edit, server))
    if (isText(edit) && edit.value !== undefined) last.text ??= edit
    newer = edit
    wasMerge = Boolean(merges)
  }
  sessions.reduceRight((before, session) => (session.before = before, session.text?.value ?? before), "")
  return sessions
}

/**
 * How many words differ between two texts.
 *
 * @type {(pieces: Piece[]) => {added: number, removed: number}}
 */
export const wordsChanged = pieces => {
  const count = kind => pieces.reduce((sum, piece) => sum + (piece.kind === kind ? countWords(piece.text) : 0), 0)
  return {added: count("added"), removed: count("removed")}
}

/**
 * The texts of a session, newest first, each with the text that it was written over. For a text that caused a merge, that is not
 * the text before it, with which it was merged, but an earlier one: that of the same device, or the one before both.
 *
 * @type {(session: WritingSession) => {edit: HistoryEdit, before: string}[]}
 */
export const textsOf = ({edits, before, merges}) => {
  const kept = edits.filter(({attribute, value}) => attribute === "text" && value !== undefined)
  return kept.map((edit, i) => {
    const older = kept.slice(i + 1)
    const base = merges.has(kept[i - 1]) ? older.find(({device}) => device.uniqueID === edit.device.uniqueID) ?? older[1] : older[0]
    return {edit, before: base?.value ?? before}
  })
}
