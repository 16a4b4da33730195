// When two tags have one name (merge.md, Tags; Tests/Vectors/README.md, tag-names.json).

/** Scalars that stay as they are: a letter that upper case would lose, and what has two cases only since Unicode 16. */
const KEPT = "\\u0131\\u1c89\\ua7cb\\ua7cc\\ua7ce\\ua7d2\\ua7d4\\ua7da\\ua7dc\\u{10d50}-\\u{10d65}\\u{16ea0}-\\u{16eb8}"
/** Cherokee, whose small letters are the younger ones: it folds to capitals. */
const CHEROKEE = "\\u13a0-\\u13fd\\uab70-\\uabbf"
const EXCEPTIONS = new RegExp(`[${KEPT}]+|([${CHEROKEE}]+)|([^${KEPT}${CHEROKEE}]+)`, "gu")
const ENDS = /^\p{White_Space}+|\p{White_Space}+$/gu

/**
 * Full case folding of each scalar by itself (Unicode 15.1, whatever the browser has): case-folding.json.
 * @type {(text: string) => string}
 */
export const foldCase = text => text.replace(EXCEPTIONS, (kept, cherokee, rest) =>
  rest ? rest.toLowerCase().toUpperCase().toLowerCase().replaceAll("ς", "σ") : cherokee?.toUpperCase() ?? kept)

/**
 * The form under which a tag's name is unique. Tags whose folded names are the same string are one.
 * @type {(name: string) => string}
 */
export const foldName = name => foldCase(name.replace(ENDS, "").normalize()).normalize()
