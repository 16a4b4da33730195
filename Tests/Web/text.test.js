import assert from "node:assert/strict"
import test from "node:test"
import {excerptOf, findings, sharedText, titleOf} from "../../Public/js/model/text.js"

const found = text => findings(text).map(({kind, start, end, value}) => `${kind} ${text.slice(start, end)} ${value}`)
const values = text => findings(text).map(({value}) => value)

test("titles: the first line with words, without Markdown's marks", () => {
  assert.equal(titleOf("Milk\nBread"), "Milk")
  assert.equal(titleOf("\n  \n## Shopping list\n- milk"), "Shopping list")
  assert.equal(titleOf("- [ ] call Ann  \n"), "call Ann")
  assert.equal(titleOf("- [x] called Ann"), "called Ann")
  assert.equal(titleOf("---\n* first"), "first")
  assert.equal(titleOf("-5 degrees"), "-5 degrees")
  assert.equal(titleOf("[1] footnote"), "[1] footnote")
  assert.equal(titleOf(""), "")
  assert.equal(titleOf("\n# \n"), "")
  assert.equal(titleOf("😀".repeat(300)), "😀".repeat(200))
  assert.equal(excerptOf("# Milk\n\n- bread\n- [ ] eggs\n"), "bread eggs")
  assert.equal(excerptOf("Milk"), "")
})

test("titles and excerpts have no marks", () => {
  assert.equal(titleOf("# **Plan** for *May*"), "Plan for May")
  assert.equal(titleOf("[The site](https://x.org/a_(b) \"title\") and [[Other note]]"), "The site and Other note")
  assert.equal(titleOf("![](attachment:7b0c)\n![Bed by the wall](attachment:7b0c)\nText"), "Bed by the wall")
  assert.equal(titleOf("![a cat](https://x.org/cat.png) <https://x.org>"), "a cat https://x.org")
  assert.equal(titleOf("***\n`code_here` ~~old~~ __new__ _it_"), "code_here old new it")
  assert.equal(titleOf("**bold *and italic* text**"), "bold and italic text")
  assert.equal(excerptOf("T\n```js\nlet a\n```\n| a | b |\n|---|---|\n===="), "let a | a | b |")
  for (const same of ["snake_case_name", "2 * 3 * 4", "a ** b", "#1 of 5", "[1] note", "~5 minutes", "C:\\dir", "5 < 6 > 4", "-5 degrees"]) {
    assert.equal(titleOf(same), same)
  }
  assert.equal(titleOf("\\*not italic\\*"), "*not italic*")
})

test("excerpts begin near the first match", () => {
  const find = word => line => line.includes(word) ? [[line.indexOf(word), line.indexOf(word) + word.length]] : []
  const text = `Title with leek\nfirst\nsecond\nthird\nfourth ${"word ".repeat(20)}needle **end**\nfifth`
  assert.equal(excerptOf(text, find("leek")), "first second third", "a match in the title moves nothing")
  assert.equal(excerptOf(text, find("second")), `second third fourth ${"word ".repeat(20)}needle end`)
  assert.equal(excerptOf(text, find("needle")), "…word word word needle end fifth")
  assert.equal(excerptOf(`T\n${"京".repeat(60)}都`, find("都")), `…${"京".repeat(32)}都`)
  assert.equal(excerptOf("Title", find("x")), "")
})

test("titles: front matter is skipped, but for its title", () => {
  assert.equal(titleOf("---\ntags: [a, b]\ndate: 2026-11-24\n---\n\n# Soup\nLeeks"), "Soup")
  assert.equal(excerptOf("---\ntags: [a, b]\n---\n# Soup\nLeeks"), "Leeks")
  assert.equal(titleOf("---\r\ntitle: \"Soup: the book\"\r\n---\r\n# Chapter 1"), "Soup: the book")
  assert.equal(excerptOf("---\ntitle: Soup\n---\n# Soup\nLeeks"), "Leeks")
  assert.equal(titleOf("---\ntitle: Soup\n---"), "Soup")
  assert.equal(titleOf("---\nA rule above, and no metadata\n---"), "A rule above, and no metadata")
  assert.equal(titleOf("---\nkey: without an end"), "key: without an end")
  assert.equal(titleOf(`---\nkey: 1\n${"x\r\n".repeat(90)}`), "key: 1", "in linear time")
})

test("links: only http and https, without surrounding punctuation", () => {
  assert.deepEqual(found("See https://example.com/a_(b). And (http://x.org/y), www.foo.de!"), [
    "link https://example.com/a_(b) https://example.com/a_(b)", "link http://x.org/y http://x.org/y",
    "link www.foo.de https://www.foo.de/",
  ])
  assert.deepEqual(values("HTTPS://Example.com/Path?q=a,b;c#d\"x"), ["https://example.com/Path?q=a,b;c#d"])
  assert.deepEqual(values("看https://a.com/b。很好「http://c.org」"), ["https://a.com/b", "http://c.org/"])
  assert.deepEqual(values("http://localhost:80/x http://192.168.0.2"), ["http://localhost/x", "http://192.168.0.2/"])
  const others = ["http://", "https://)", "www.", "www...com", "javascript:alert(1)", "data:text/html,x", "ftp://x.org",
    "xhttp://a.b", "file:///etc/passwd", "vbscript:x", "java\nscript:alert(1)"]
  for (const none of others) assert.deepEqual(values(none), [], none)
})

test("mail addresses", () => {
  assert.deepEqual(found("me@x.co.uk, mailto:a.b+c@d.io. (Ann <ann@example.org>)"), [
    "mail me@x.co.uk mailto:me@x.co.uk", "mail mailto:a.b+c@d.io mailto:a.b+c@d.io",
    "mail ann@example.org mailto:ann@example.org",
  ])
  const others = ["@", "a@", "@b.de", "a@b", "a@b.c", "jörg@x.de", ".a@x.de", "a@-x.de", "@user", "a@@b.de", "a@b..de",
    `${"a".repeat(70)}@x.de`]
  for (const none of others) assert.deepEqual(values(none), [], none)
  assert.deepEqual(values("https://medium.com/@user/x@example.org"), ["https://medium.com/@user/x@example.org"])
})

test("dates that are unambiguous", () => {
  assert.deepEqual(found("on 2026-11-21 14:30, 21.11.2026, 11/21/2026 and 21/11/2026"), [
    "date 2026-11-21 14:30 2026-11-21T14:30", "date 21.11.2026 2026-11-21", "date 11/21/2026 2026-11-21",
    "date 21/11/2026 2026-11-21",
  ])
  assert.deepEqual(found("21 November 2026 at 2:30 pm; Nov 21st, 2026; 1st of May 2026, sept. 3 2026 12:00 am"), [
    "date 21 November 2026 at 2:30 pm 2026-11-21T14:30", "date Nov 21st, 2026 2026-11-21",
    "date 1st of May 2026 2026-05-01", "date sept. 3 2026 12:00 am 2026-09-03T00:00",
  ])
  assert.deepEqual(values("2024-02-29 and 2026-02-29"), ["2024-02-29"])
  assert.deepEqual(values("2026-11-21T08:47:12.345Z"), ["2026-11-21"], "a time elsewhere on earth is not told")
  const others = ["03/04/2026", "2026-13-01", "31.4.2026", "v1.21.11.2026", "12026-11-21", "2026-11-211",
    "a/11/21/2026", "may 2026", "0999-01-01", "32 May 2026", "https://x.org/2026-11-21"]
  for (const none of others) assert.deepEqual(findings(none).filter(({kind}) => kind === "date"), [], none)
})

test("findings are in order and do not overlap", () => {
  const text = "a@b.de 2026-11-21 https://x.org/2026-11-21?m=a@b.de www.y.org a@www.z.org 1.1.2026"
  let end = 0
  for (const one of findings(text)) {
    assert.ok(one.start >= end && one.end > one.start)
    assert.ok(one.kind === "date" || /^(https?|mailto):/.test(one.value))
    end = one.end
  }
  assert.equal(findings(text).length, 6)
})

test("the time is linear for every text", () => {
  const most = 1 << 20
  const bad = ["a", "@", "a@", "www.", "http://", "https://a.b", "(", ")", "https://a)", "1.", "1/", "1", "11.11.",
    "2026-", "may ", "1 may ", " ", "\n", "- ", "#", "# \n", "[ ] ", "a.", "@a.", "a@a.a", "mailto:", ".", "a-", "12:", "\u0301",
    "😀", "**", `https://${"(".repeat(1000)}`, `x@${"a-".repeat(100)}`]
  for (const piece of bad) {
    const text = piece.repeat(Math.ceil(most / piece.length))
    for (const [name, body] of Object.entries({findings, titleOf, excerptOf})) {
      const begin = performance.now()
      body(`${text} `)
      assert.ok(performance.now() - begin < 5_000, `${name} of ${piece}: ${performance.now() - begin} ms`)
    }
  }
  const link = `https://a.b/${"(c)".repeat(most / 3)}`
  assert.deepEqual(values(`${link})`), [link])
})

test("shared text: title, text and address, each once", () => {
  assert.equal(sharedText({}), "")
  assert.equal(sharedText({title: " Bread ", text: "Rye\r\nSalt", url: "https://a.example"}), "Bread\n\nRye\nSalt\n\nhttps://a.example")
  assert.equal(sharedText({title: "Bread", text: "Bread is good: https://a.example"}), "Bread is good: https://a.example")
  assert.equal(sharedText({text: "See https://a.example", url: "https://a.example"}), "See https://a.example")
  assert.equal(sharedText({title: "https://a.example", url: "https://a.example"}), "https://a.example")
})
