// Pictures in texts: `![alt](attachment:ID)` (protocol.md, Pictures in texts). AttachmentMark.swift finds the same marks.
import {derivedID} from "./hash.js"

/** A run without line breaks and without these characters, unless a backslash is in front of them. */
const run = excluded => `(?:\\\\[^\\n\\r]|[^\\\\\\n\\r${excluded}])*`
const ID = "[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}"
const TITLE = `(?:[ \\t]+(?:"${run('"')}"|'${run("'")}'|\\(${run("()")}\\)))?[ \\t]*`
/** Groups: the text before the target, in it the alternative text; the ID; the text after the ID. */
const MARK = new RegExp(`(?<!\\\\)(!\\[(${run("[\\]")})\\]\\()attachment:(${ID})(${TITLE}\\))`, "g")
/** A picture whose bytes are in the text, as in pasted HTML. Groups: the alternative text, the type, the bytes in Base64. */
const DATA_PICTURE = new RegExp(`(?<!\\\\)!\\[(${run("[\\]")})\\]\\(data:(image/[a-z]+);base64,([A-Za-z\\d+/=]+)\\)`, "g")

const unescape = text => text.replace(/\\([!-/:-@[-`{-~])/g, "$1")
const escape = text => text.replace(/[\\[\]]/g, "\\$&").replace(/\s+/g, " ")

/**
 * The marks of a text, in order.
 *
 * @param {string} text
 * @returns {Mark[]}
 */
export const marksOf = text => [...text.matchAll(MARK)].map(({0: whole, 2: alt, 3: id, index = 0}) =>
  ({id, alt: unescape(alt), start: index, end: index + whole.length}))

/**
 * @param {string} id
 * @param {string} [alt]
 * @returns {string} a mark
 */
export const markOf = (id, alt = "") => `![${escape(alt)}](attachment:${id})`

/** Replaces the targets of marks. Marks for which `targetOf` returns nothing stay as they are. */
const withTargets = (text, targetOf) => text.replace(MARK, (whole, before, _, id, after) => {
  const target = targetOf(id)
  return target ? before + target + after : whole
})

/**
 * Replaces the IDs of attachments in the marks of a text.
 *
 * @param {string} text
 * @param {Record<string, string>} ids the new IDs by the old ones
 * @returns {string}
 */
export const withIDs = (text, ids) => withTargets(text, id => ids[id] && `attachment:${ids[id]}`)

/** A path as the target of a link. Spaces, and characters with a meaning in Markdown or in URLs, are percent-encoded. */
const linkTo = path => path.replace(/[^\w.~/\u0080-\uffff-]/g, letter =>
  `%${letter.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`)

/**
 * Replaces the IDs in the marks of a text with the paths of files, so that other apps show the pictures.
 *
 * @param {string} text
 * @param {(id: string) => string | undefined} pathOf relative to the folder of the text
 * @returns {string}
 */
export const withPaths = (text, pathOf) => withTargets(text, id => {
  const path = pathOf(id)
  return path && linkTo(path)
})

/**
 * Replaces each mark of a text with its alternative text.
 *
 * @type {(text: string) => string}
 */
export const withoutMarks = text => text.includes("](attachment:") ? text.replace(MARK, "$2") : text

/**
 * The ID that a device gives to an attachment when it uploads it again because it was deleted while a note had it. Marks with the
 * old ID stand for it (clients.md, rule 4).
 *
 * @type {(id: string, note: string) => string}
 */
export const successorOf = (id, note) => derivedID(id, note)

/**
 * Adds the line breaks that some lines need when they are inserted into a text.
 *
 * @param {string} before the text before that place
 * @param {string} lines
 * @param {string} after the text after it
 * @returns {string} the lines, with line breaks where they are needed
 */
export const onOwnLines = (before, lines, after) => {
  const isAtStart = !before || before.endsWith("\n")
  return `${isAtStart ? "" : "\n"}${lines}${after.startsWith("\n") ? "" : "\n"}`
}

/**
 * The pictures whose bytes are in the text.
 *
 * @param {string} text
 * @returns {(Mark & {type: string, base64: string})[]} without `id`
 */
export const dataPicturesOf = text => [...text.matchAll(DATA_PICTURE)].map(({0: whole, 1: alt, 2: type, 3: base64, index = 0}) =>
  ({id: "", alt: unescape(alt), start: index, end: index + whole.length, type, base64}))
