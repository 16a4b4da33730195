// The language of the interface: the one that is chosen, its formats, and the translation of the texts of index.html.

/** English, in which index.html is written. @type {Translation} */
export const english = {
  dir: "ltr",
  now: "just now",
  forms: {
    attempt: {one: "{count} attempt", other: "{count} attempts"},
    change: {one: "{count} change", other: "{count} changes"},
    edit: {one: "{count} edit", other: "{count} edits"},
    file: {one: "{count} file", other: "{count} files"},
    item: {one: "{count} item", other: "{count} items"},
    note: {one: "{count} note", other: "{count} notes"},
    picture: {one: "{count} picture", other: "{count} pictures"},
    second: {one: "{count} second", other: "{count} seconds"},
    tag: {one: "{count} tag", other: "{count} tags"},
    word: {one: "{count} word", other: "{count} words"},
  },
  texts: {},
}

/** The languages of the app. A translation is loaded only if it is used. */
const languages = {__proto__: null, en: async () => english, de: () => import("../text/de.js")}

/** The attributes that people read. */
export const ATTRIBUTES = [
  "alt", "aria-label", "aria-placeholder", "placeholder", "title",
  "data-forbidden", "data-label", "data-title", "data-unknown", "data-wrong",
]

const primary = tag => tag.split("-")[0].toLowerCase()

/**
 * The language of the interface, and the locale of its dates and numbers: the first language of the browser that the app has.
 *
 * @param {string} wanted the setting: "en", "de", or "system" for the languages of the browser
 * @param {readonly string[]} spoken the languages of the browser, such as "de-AT"
 */
export const choose = (wanted, spoken) => {
  const language = [wanted, ...spoken.map(primary)].find(language => languages[language]) ?? "en"
  return {language, locale: spoken.find(tag => primary(tag) === language) ?? language}
}

/** @type {(locale: string, translation: Translation) => Formats} */
export const formatsOf = (locale, {now, forms}) => {
  const [time, weekday, day, year, full] = /** @type {Intl.DateTimeFormatOptions[]} */ ([
    {hour: "2-digit", minute: "2-digit"}, {weekday: "long"}, {day: "numeric", month: "short"},
    {day: "numeric", month: "short", year: "numeric"}, {dateStyle: "long", timeStyle: "short"},
  ]).map(options => new Intl.DateTimeFormat(locale, options))
  const numbers = new Intl.NumberFormat(locale)
  const rules = new Intl.PluralRules(locale)
  const relative = new Intl.RelativeTimeFormat(locale)
  const yesterday = new Intl.RelativeTimeFormat(locale, {numeric: "auto"}).format(-1, "day")

  return {
    counted: (count, form) => forms[form][rules.select(count)].replace("{count}", numbers.format(count)),
    number: count => numbers.format(count),
    date: date => full.format(new Date(date)),

    day: date => {
      const moment = new Date(date), now = new Date()
      const isThisYear = moment.getFullYear() === now.getFullYear()
      const days = Math.round((now.setHours(0, 0, 0, 0) - new Date(date).setHours(0, 0, 0, 0)) / 86_400_000)
      if (days === 1) return yesterday
      return (days === 0 ? time : days > 0 && days < 7 ? weekday : isThisYear ? day : year).format(moment)
    },

    ago: moment => {
      const seconds = (Date.now() - new Date(moment).getTime()) / 1000
      if (Math.abs(seconds) < 5) return now
      const units = {day: 86_400, hour: 3600, minute: 60, second: 1}
      const unit = Object.keys(units).find(unit => Math.abs(seconds) >= units[unit]) ?? "second"
      return relative.format(-Math.floor(seconds / units[unit]), /** @type {Intl.RelativeTimeFormatUnit} */ (unit))
    },

    bytes: count => {
      const power = Math.min(3, Math.floor(Math.log10(count || 1) / 3))
      const value = count / 1000 ** power
      return new Intl.NumberFormat(locale, {
        style: "unit", unit: ["byte", "kilobyte", "megabyte", "gigabyte"][power], unitDisplay: power ? "short" : "long",
        maximumFractionDigits: value < 10 ? 1 : 0,
      }).format(value)
    },
  }
}

/** @type {Formats} */
export let formats

/**
 * Replaces the English texts of an element or template by their translations. Where one English text has two meanings, the ID of
 * the template is before the text.
 */
const translate = (root, id, texts) => {
  const translated = text => text.replace(/\S(?:.*\S)?/s, words => {
    const key = words.replace(/\s+/g, " ")
    return texts[`${id}: ${key}`] ?? texts[key] ?? words
  })
  for (const element of root.querySelectorAll("*")) {
    if (element.closest("[translate=no]")) continue
    for (const name of ATTRIBUTES) {
      if (element.hasAttribute(name)) element.setAttribute(name, translated(element.getAttribute(name)))
    }
    for (const node of element.childNodes) if (node instanceof Text) node.data = translated(node.data)
  }
}

/** The setting: "system", "en" or "de". */
export const languageSetting = () => localStorage.language ?? "system"

/** @param {string} language */
export const setLanguage = language => {
  localStorage.language = language
  location.reload()
}

/** Translates the page, once, before any view is made from its templates. */
export const startLanguage = async () => {
  const chosen = choose(languageSetting(), navigator.languages)
  // Without a network and without the service worker, a translation cannot be loaded.
  const {locale, translation} = await languages[chosen.language]().then(translation => ({...chosen, translation}),
    () => ({locale: "en", translation: english}))
  formats = formatsOf(locale, translation)
  Object.assign(document.documentElement, {lang: locale, dir: translation.dir})
  if (translation === english) return
  translate(document.body, "", translation.texts)
  for (const template of document.querySelectorAll("template")) translate(template.content, template.id, translation.texts)
}
