// Search, and names of tags without case (merge.md, Tags; clients.md, Search). What is searched is computed from texts and never
// synced (clients.md, rule 7). `Tests/Vectors` has the same cases for every implementation.
import {utf8} from "./hash.js"

// Characters that foldCase leaves as they are: ı, which upper case would turn into I, and letters that have two cases only
// since Unicode 16.
const CASELESS = "\\u0131\\u1c89\\ua7cb\\ua7cc\\ua7ce\\ua7d2\\ua7d4\\ua7da\\ua7dc\\u{10d50}-\\u{10d65}\\u{16ea0}-\\u{16eb8}"
const CASED = new RegExp(`[^${CASELESS}]+`, "gu")

/**
 * Case folding of Unicode 15.1, each scalar by itself, whatever version the browser has (Tests/Vectors/case-folding.json).
 *
 * @type {(text: string) => string}
 */
export const foldCase = text => text.replace(CASED, part => part
  // By way of upper case, so that ß, ſ and the like become what their upper case folds to.
  .toLowerCase().toUpperCase().toLowerCase()
  .replaceAll("ς", "σ")
  // Cherokee folds to upper case.
  .replace(/[\u13f8-\u13fd\uab70-\uabbf]/g, letter => letter.toUpperCase()))

/**
 * The name of a tag without case and surrounding white space. Tags whose folded names are equal are one (merge.md, Tags).
 *
 * @type {(name: string) => string}
 */
export const foldName = name =>
  foldCase(name.replace(/^\p{White_Space}+|\p{White_Space}+$/gu, "").normalize()).normalize()

const MAX_TERM_BYTES = 64
const MAX_QUERY_SCALARS = 1000
const MAX_QUERY_TERMS = 32

/** Accents that readers of the script do without: Latin and Greek, Cyrillic, Hebrew, Arabic and Syriac. */
const ACCENTS = new RegExp("(?=\\p{Mn})[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
  + "\u0483-\u0489\u2de0-\u2dff\ua66f-\ua67d\u0591-\u05c7\ufb1e"
  + "\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0898-\u08ff\u0711\u0730-\u074a]", "gu")
/** Scripts without spaces between words: Thai to Tai Viet, kana, Han, Tangut, Nushu. */
const UNSPACED = "\u0e00-\u0eff\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf"
  + "\uaa80-\uaadf\u3005-\u312f\u31a0-\u31bf\u31f0-\u31ff\\u{1aff0}-\\u{1b16f}\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
  + "\\u{16fe0}-\\u{18dff}\\u{1b170}-\\u{1b2ff}\\u{20000}-\\u{3ffff}"
const RUNS = new RegExp(`[${UNSPACED}][${UNSPACED}\\p{M}]*|[^${UNSPACED}]+`, "gu")
const HAS_UNSPACED = new RegExp(`[${UNSPACED}]`, "u")
/** Letters that Unicode does not decompose. */
const STROKES = {ø: "o", ł: "l", đ: "d", ħ: "h", ŧ: "t", ı: "i", æ: "ae", œ: "oe"}

/** A text without case, compatible forms and accents. */
const normalized = text => foldCase(text.normalize("NFKD")
  // か and が are different letters: their mark stays.
  .replace(/(.?)[\u3099\u309a]/gu, (both, kana) => both.normalize().length === kana.length ? both.normalize() : kana)
  // Before case folding, which turns the iota subscript into a letter.
  .replace(ACCENTS, ""))
  .replace(/[øłđħŧıæœ]/g, letter => STROKES[letter])
  // The tatweel, and characters that are not visible.
  .replace(/\u0640|(?!\u200b)[\p{DI}\p{Me}\p{Cf}]/gu, "")

/** The beginning of a word, of at most 64 bytes. */
const truncated = word => {
  let size = 0
  return [...word.slice(0, MAX_TERM_BYTES)].filter(scalar => (size += utf8(scalar).length) <= MAX_TERM_BYTES).join("")
}

const WORDS = /[\p{L}\p{N}\p{Mn}\p{Mc}]+/gu

/** The runs of a text: its words, normalized, split where an unspaced script begins or ends. */
const runsOf = text => {
  const isASCII = !/[^\0-\x7f]/.test(text)
  if (isASCII) return text.toLowerCase().match(/[a-z\d]+/g) ?? []
  return (normalized(text).match(WORDS) ?? []).flatMap(word => word.match(RUNS) ?? [])
}

/** A word is one term. A run of an unspaced script has a term for each pair of characters, and one for the last character. */
const termsOfRun = run => {
  if (HAS_UNSPACED.test(run)) return [...run].map((scalar, i, all) => scalar + (all[i + 1] ?? ""))
  return [run.length * 3 > MAX_TERM_BYTES ? truncated(run) : run]
}

/**
 * The terms by which servers search a text, in order.
 *
 * @type {(text: string) => string[]}
 */
export const termsOf = text => runsOf(text).flatMap(termsOfRun)

/**
 * What to keep of a text to search in it: its runs, with spaces between them.
 *
 * @type {(text: string) => string}
 */
export const haystackOf = text => runsOf(text).join(" ")

/**
 * The terms of a word or phrase of a query. The last character of an unspaced run alone is a term only within the phrase: at its
 * end, the text may continue.
 *
 * @type {(needle: string) => string[]}
 */
export const phraseOf = needle => {
  const runs = needle.split(" ").map(termsOfRun)
  const last = runs[runs.length - 1]
  if (last.length > 1) last.pop()
  return runs.flat()
}

const QUOTES = "\"“”„‟＂"
/** A part of a query: "-", then "tag:", "is:" or "has:", each of them optional, then text between quotation marks, or without spaces. */
const PART = new RegExp(`(-?)(?:(tag|is|has):)?(?:[${QUOTES}]([^${QUOTES}]*)(?:[${QUOTES}]|$)|([^\\p{White_Space}${QUOTES}]+))`, "giu")
/** Values of "is:" and "has:". */
const PROPERTIES = {"is:pinned": "pinned", "is:archived": "archived", "has:file": "file"}

/**
 * @param {any} match of PART
 * @returns {QueryPart | null} null: a part that means nothing, such as a dash
 */
const partOf = ([whole, dash, operator = "", quoted, bare = ""]) => {
  const isExcluded = dash !== ""
  const value = quoted ?? bare
  const property = PROPERTIES[`${operator}:${value}`.toLowerCase()]
  if (property) return {kind: property, value: "", isExcluded}
  if (/^tag$/i.test(operator) && foldName(value)) return {kind: "tag", value: foldName(value), isExcluded}
  const words = haystackOf(operator && quoted === undefined ? whole : value)
  if (words) return {kind: "words", value: words, isExcluded}
  const symbols = value.trim()
  return symbols && (quoted !== undefined || /\p{S}/u.test(symbols)) ? {kind: "symbols", value: symbols, isExcluded} : null
}

/**
 * A search for parts of words and "phrases", without those that follow "-". `tag:name`, `is:pinned`, `is:archived` and `has:file` are
 * properties of notes. Symbols such as emoji are searched for as they are, punctuation only if there is nothing else.
 *
 * @type {(text: string) => Query}
 */
export const queryOf = text => {
  const trimmed = text.trim()
  if ([...text].length > MAX_QUERY_SCALARS) return {parts: [], problem: "too-long"}
  const parts = [...trimmed.matchAll(PART)].flatMap(match => partOf(match) ?? [])
  const terms = parts.filter(({kind}) => kind === "words").flatMap(({value}) => phraseOf(value))
  if (terms.length > MAX_QUERY_TERMS) return {parts: [], problem: "too-many-terms"}
  if (!parts.length && trimmed) parts.push({kind: "symbols", value: trimmed, isExcluded: false})
  return {parts, problem: null}
}

/**
 * Whether a note is found. A query without parts finds everything, a refused one nothing. Words are searched for in names of tags
 * too. `tag:` finds the tag of this name and those below it ("work" has "work/mail"), or if there is none, tags whose names contain it.
 *
 * @param {Query} query
 * @param {{id: string, name: string}[]} tags all tags, with folded names
 * @returns {(note: Searchable) => boolean}
 */
export const finderOf = ({parts, problem}, tags) => {
  if (problem) return () => false
  const tests = parts.map(({kind, value, isExcluded}) => {
    const isNamed = tags.filter(({name}) => `${name}/`.startsWith(`${value}/`))
    const named = kind === "words" ? tags.filter(({name}) => haystackOf(name).includes(value))
      : kind !== "tag" ? [] : isNamed.length ? isNamed : tags.filter(({name}) => name.includes(value))
    const ids = named.map(({id}) => id)
    const hasTag = note => ids.length > 0 && note.tags().some(id => ids.includes(id))
    const tests = {
      words: note => note.haystack.includes(value) || hasTag(note), tag: hasTag, symbols: note => note.text.includes(value),
      pinned: note => note.pinned, archived: note => note.archived, file: note => note.hasFile(),
    }
    const test = tests[kind]
    return isExcluded ? note => !test(note) : test
  })
  return note => tests.every(test => test(note))
}

/** ASCII characters, or one character with its combining marks. */
const CLUSTERS = /[\0-\x7f]+(?![\p{M}\uff9e\uff9f])|[^\p{M}\uff9e\uff9f]?[\p{M}\uff9e\uff9f]*/gu

/** The haystack of a text, and for each of its code units the range of the text that it comes from. */
const locate = text => {
  const known = new Map() // A text has few different characters.
  const starts = []
  const ends = []
  let folded = ""
  for (const {0: cluster, index = 0} of text.matchAll(CLUSTERS)) {
    const isASCII = cluster.charCodeAt(0) < 0x80 && !/[^\0-\x7f]/.test(cluster)
    const part = isASCII ? cluster.toLowerCase() : known.get(cluster) ?? normalized(cluster)
    if (!isASCII) known.set(cluster, part)
    folded += part
    for (let i = 0; i < part.length; i++) {
      starts.push(isASCII ? index + i : index)
      ends.push(isASCII ? index + i + 1 : index + cluster.length)
    }
  }
  const places = []
  let haystack = ""
  for (const {0: word, index: at = 0} of folded.matchAll(WORDS)) {
    for (const {0: run, index: begin = 0} of word.matchAll(RUNS)) {
      if (haystack) places.push(-1)
      haystack += haystack ? ` ${run}` : run
      for (let i = 0; i < run.length; i++) places.push(at + begin + i)
    }
  }
  return {haystack, rangeOf: (at, length) => [starts[places[at]], ends[places[at + length - 1]]]}
}

/** Where a text contains another one. */
const placesOf = (value, text) => {
  const places = []
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + value.length)) places.push(at)
  return places
}

/**
 * The ranges of a text that a query finds, as [start, end]: in order, of whole characters, joined where they touch.
 *
 * @type {(query: string | Query, text: string) => [number, number][]}
 */
export const matchesOf = (query, text) => {
  const {parts} = typeof query === "string" ? queryOf(query) : query
  const valuesOf = wanted => parts.filter(({kind, isExcluded}) => kind === wanted && !isExcluded).map(({value}) => value)
  const [words, symbols] = [valuesOf("words"), valuesOf("symbols")]
  const found = symbols.flatMap(value => placesOf(value, text).map(at => [at, at + value.length]))
  // Locating takes longer than searching: of a text, only the lines with a match are located. Phrases may continue on the next line.
  const pieces = words.some(value => value.includes(" ")) ? [text] : words.length ? text.split("\n") : []
  let begin = 0
  for (const piece of pieces) {
    const folded = haystackOf(piece)
    if (words.some(value => folded.includes(value))) {
      const {haystack, rangeOf} = locate(piece)
      for (const value of words) {
        for (const at of placesOf(value, haystack)) found.push(rangeOf(at, value.length).map(place => begin + place))
      }
    }
    begin += piece.length + 1
  }
  const joined = /** @type {[number, number][]} */ ([])
  for (const [start, end] of found.sort(([a], [b]) => a - b)) {
    const last = joined.at(-1)
    if (last && start <= last[1]) last[1] = Math.max(last[1], end)
    else joined.push([start, end])
  }
  return joined
}
