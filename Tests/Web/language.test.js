// The languages of the web app: every text of index.html has a translation, with the same values, and no translation is unused.
import assert from "node:assert/strict"
import {readFileSync} from "node:fs"
import test from "node:test"
import {ATTRIBUTES, choose, english, formatsOf} from "../../Public/js/ui/language.js"
import * as german from "../../Public/js/text/de.js"

const page = readFileSync(new URL("../../Public/index.html", import.meta.url), "utf8")
const VOID = /^(?:br|hr|img|input|link|meta)$/
const oneLine = text => text.trim().replace(/\s+/g, " ")
/** Whether there is something to translate: more than values, symbols and single letters. */
const isText = text => /\p{L}{2}|[“”]/u.test(text.replace(/\{[^}]*\}/g, ""))

/** All texts in the page's body as `translate` in language.js finds them, each with the ID of its template. */
const textsOf = html => {
  const found = []
  const open = /** @type {{tag: string, id: string, isKept: boolean}[]} */ ([])
  const take = text => {
    const {id = "", isKept = false} = open.at(-1) ?? {}
    if (!isKept && oneLine(text)) found.push({id, text: oneLine(text)})
  }
  const [body = ""] = html.replace(/<!--.*?-->/gs, "").match(/<body>.*<\/body>/s) ?? []
  for (const [, end, tag, attributes = "", isEmpty, text] of body.matchAll(/<(\/?)([\w-]+)((?:[^>"]|"[^"]*")*?)(\/?)>|([^<]+)/g)) {
    if (text) take(text)
    else if (end) assert.equal(open.pop()?.tag, tag, `</${tag}> closes another element`)
    else {
      const above = open.at(-1)
      const named = Object.fromEntries([...attributes.matchAll(/([\w-]+)(?:="([^"]*)")?/g)].map(([, name, value]) => [name, value]))
      open.push({
        tag, id: tag === "template" ? named.id : above?.id ?? "", isKept: above?.isKept || named.translate === "no",
      })
      for (const name of ATTRIBUTES) if (named[name]) take(named[name])
      if (isEmpty || VOID.test(tag)) open.pop()
    }
  }
  assert.equal(found.some(({text}) => text.includes("&")), false, "entities are not decoded here: use the characters themselves")
  return found
}

/** The values in a text, such as "toSend" of "{toSend|change}". */
const valuesOf = text => [...new Set([...text.matchAll(/\{([\w.]+)/g)].map(([, path]) => path))].sort()
const formsOf = texts => new Set(texts.flatMap(text => [...text.matchAll(/\|(\w+)\}/g)].map(([, form]) => form)))

/** The key of a text's translation. */
const keyOf = ({id, text}, translations) => [`${id}: ${text}`, text].find(key => key in translations)
/** What is wrong with a translation of these texts. */
const faultsOf = (texts, {texts: translations}) => {
  const faults = []
  const used = new Set()
  for (const {id, text} of texts.filter(({text}) => isText(text))) {
    const key = keyOf({id, text}, translations)
    if (!key) faults.push(`no translation of ${JSON.stringify(text)}, in the template ${id}`)
    else if (String(valuesOf(text)) !== String(valuesOf(translations[key]))) faults.push(`other values: ${translations[key]}`)
    used.add(key)
  }
  return [...new Set(faults), ...Object.keys(translations).filter(key => !used.has(key)).map(key => `unused: ${key}`)]
}

const languages = {en: {...english, texts: {}}, de: german}
const texts = textsOf(page)

test("every text has a German translation with the same values", () => {
  assert.ok(texts.length > 300)
  assert.deepEqual(faultsOf(texts, german), [])
})

test("problems have texts, which can be translated, unless only a faulty client gets them", () => {
  const slugs = readFileSync(new URL("../../Sources/HesperModel/ProblemSlug.swift", import.meta.url), "utf8")
    .match(/enum Slug.*?\n\n/s)?.[0].matchAll(/case (\w+)(?: = "([\w-]+)")?/g) ?? []
  const without = [...slugs].map(([, name, slug = name]) => slug)
    .filter(slug => !page.includes(`<template id="problem-${slug}">`) && !page.includes(`<template id="${slug}">`))
  assert.deepEqual(without, [
    "clock-missing", "clock-ahead", "search-too-costly", "token-expired", "method-not-allowed", "length-required",
    "unsupported-media-type", "range-not-satisfiable", "attachment-data-missing", "idempotency-key-in-use",
    "idempotency-key-reused", "upload-offset", "precondition-failed", "uri-too-long", "headers-too-large",
  ])
})

test("what can be counted has a text for each plural form of the language, and is counted somewhere", () => {
  const formats = Object.keys(formatsOf("en", english))
  for (const [language, {forms, texts: translations}] of Object.entries(languages)) {
    const used = formsOf(texts.map(one => translations[keyOf(one, translations) ?? ""] ?? one.text))
    assert.deepEqual(Object.keys(forms).sort(), [...used].filter(form => !formats.includes(form)).sort(), language)
    const categories = new Intl.PluralRules(language).resolvedOptions().pluralCategories
    for (const [form, words] of Object.entries(forms)) {
      assert.deepEqual(Object.keys(words).sort(), [...categories].sort(), form)
      for (const text of Object.values(words)) assert.equal(text.split("{count}").length, 2, text)
    }
  }
})

test("German has German quotation marks and says du", () => {
  for (const text of [...Object.values(german.texts), ...Object.values(german.forms).flatMap(Object.values)]) {
    assert.doesNotMatch(text, /[”"']|\.\.\.|[\p{Ll},] (?:Sie|Ihnen|Ihre?[mnrs]?)\b/u)
    assert.doesNotMatch(text, /\s{2}|\s$/)
  }
})

test("the checks find what is wrong", () => {
  const html = `<body><template id="one"><p title="Close">Two words {a}<img alt="">.<span data-if="b">{b|note}</span></p></template>
    <template id="two"><p translate="no">Kept <b>Kept</b></p><p>Close</p><kbd>n</kbd></template></body></html>`
  const found = textsOf(html)
  assert.deepEqual(found, [
    {id: "one", text: "Close"}, {id: "one", text: "Two words {a}"}, {id: "one", text: "."}, {id: "one", text: "{b|note}"},
    {id: "two", text: "Close"}, {id: "two", text: "n"},
  ])
  assert.deepEqual(faultsOf(found, {texts: {"two: Close": "Zu", "Two words {a}": "Zwei Wörter {b}", "Three": "Drei"}}), [
    'no translation of "Close", in the template one', "other values: Zwei Wörter {b}", "unused: Three",
  ])
  assert.throws(() => textsOf("<body><p><b></p></body>"))
})

test("the language is the first of the browser's that the app has, unless one is set", () => {
  const chosen = (...args) => Object.values(choose(...args)).join(" ")
  assert.equal(chosen("system", ["de"]), "de de")
  assert.equal(chosen("system", ["de-AT", "en"]), "de de-AT")
  assert.equal(chosen("system", ["DE-ch"]), "de DE-ch")
  assert.equal(chosen("system", ["en-GB", "de"]), "en en-GB")
  assert.equal(chosen("system", ["fr-FR", "de-DE", "en-US"]), "de de-DE")
  assert.equal(chosen("system", ["fr"]), "en en")
  assert.equal(chosen("system", ["constructor"]), "en en")
  assert.equal(chosen("en", ["de-DE", "en-GB"]), "en en-GB")
  assert.equal(chosen("de", ["en-US"]), "de de")
  assert.equal(chosen("tlh", ["de"]), "de de")
})

test("formats", t => {
  const {Date: RealDate} = globalThis
  const present = new RealDate(2026, 10, 24, 19, 5).getTime()
  globalThis.Date = /** @type {any} */ (class extends RealDate {
    constructor(...parts) { parts.length ? super(...parts) : super(present) }
    static now() { return present }
  })
  t.after(() => { globalThis.Date = RealDate })
  const expected = {
    "en-GB": {
      counted: ["0 notes", "1 note", "2 notes", "1,234 notes"],
      day: ["19:05", "yesterday", "Saturday", "3 Nov", "3 Nov 2025"],
      ago: ["just now", "5 seconds ago", "1 minute ago", "3 hours ago", "1 day ago", "40 days ago", "in 30 seconds", "in 2 minutes"],
      bytes: ["0 bytes", "1 byte", "999 bytes", "1 kB", "3.1 MB", "31 MB", "2,000 GB"],
      date: ["24 November 2026 at 19:05"],
    },
    de: {
      counted: ["0 Notizen", "1 Notiz", "2 Notizen", "1.234 Notizen"],
      day: ["19:05", "gestern", "Samstag", "3. Nov.", "3. Nov. 2025"],
      ago: ["gerade eben", "vor 5 Sekunden", "vor 1 Minute", "vor 3 Stunden", "vor 1 Tag", "vor 40 Tagen", "in 30 Sekunden",
        "in 2 Minuten"],
      bytes: ["0 Byte", "1 Byte", "999 Byte", "1 kB", "3,1 MB", "31 MB", "2.000 GB"],
      date: ["24. November 2026 um 19:05"],
    },
  }
  for (const [locale, {counted, day, ago, bytes, date}] of Object.entries(expected)) {
    const formats = formatsOf(locale, locale === "de" ? german : english)
    assert.deepEqual([0, 1, 2, 1234].map(count => formats.counted(count, "note")), counted)
    const days = [[2026, 10, 24, 19, 5], [2026, 10, 23, 1], [2026, 10, 21], [2026, 10, 3], [2025, 10, 3]]
    assert.deepEqual(days.map(([year, month, ...rest]) => formats.day(new RealDate(year, month, ...rest))), day)
    const seconds = [0, 5, 119, 3 * 3600, 47 * 3600, 40 * 86_400, -30, -61]
    assert.deepEqual(seconds.map(seconds => formats.ago(present - seconds * 1000)), ago)
    assert.deepEqual([0, 1, 999, 1000, 3_140_000, 31_400_000, 2e12].map(count => oneLine(formats.bytes(count))), bytes)
    assert.deepEqual([formats.date(present)], date)
  }
})
