"""HTML that is pasted becomes Markdown: what other programs put on the clipboard, hostile HTML, and the time that it takes."""

import random

import pytest
from processor import processor_clock

GOOGLE_DOCS = """<meta charset='utf-8'><meta charset="utf-8"><b style="font-weight:normal;" id="docs-internal-guid-1a2b3c">
<h2 dir="ltr" style="line-height:1.38;margin-top:18pt;margin-bottom:6pt;"><span style="font-size:16pt;font-family:Arial;color:#000000;
font-weight:400;font-style:normal;text-decoration:none;white-space:pre-wrap;">Trip to Rome</span></h2><p dir="ltr" style="line-height:1.38;margin-top:0pt;
margin-bottom:0pt;"><span style="font-size:11pt;font-weight:400;white-space:pre-wrap;">We leave on </span><span style="font-size:11pt;font-weight:700;
white-space:pre-wrap;">Monday</span><span style="font-size:11pt;font-weight:400;white-space:pre-wrap;">, see </span><a href="https://example.org/trip"
style="text-decoration:none;"><span style="font-size:11pt;color:#1155cc;font-weight:400;text-decoration:underline;white-space:pre-wrap;">the plan</span></a><span
style="font-size:11pt;font-weight:400;white-space:pre-wrap;">.</span></p><br /><ul style="margin-top:0;margin-bottom:0;padding-inline-start:48px;"><li dir="ltr"
style="list-style-type:disc;font-size:11pt;font-weight:400;" aria-level="1"><p dir="ltr" style="margin-top:0pt;" role="presentation"><span
style="font-weight:400;white-space:pre-wrap;">Passport</span></p></li><ul style="margin-top:0;"><li dir="ltr" style="list-style-type:circle;"
aria-level="2"><p dir="ltr" role="presentation"><span style="font-weight:400;font-style:italic;">valid</span></p></li></ul><li dir="ltr" aria-level="1"><p dir="ltr"
role="presentation"><span style="font-weight:400;text-decoration:line-through;">Tent</span></p></li></ul><ul style="margin-top:0;padding-inline-start:28px;"><li dir="ltr"
role="checkbox" aria-checked="false" style="list-style-type:none;" aria-level="1"><img src="data:image/png;base64,iVBORw0KGgo=" width="17.6px" height="17.6px"
alt="unchecked" aria-roledescription="checkbox" style="margin-right:3px;" /><p style="display:inline-block" role="presentation"><span>Milk</span></p></li><li
dir="ltr" role="checkbox" aria-checked="true" aria-level="1"><img src="data:image/png;base64,iVBORw0KGgo=" alt="checked"
aria-roledescription="checkbox" /><p role="presentation"><span>Bread</span></p></li></ul></b><br class="Apple-interchange-newline">"""

WORD = """<html xmlns:o="urn:schemas-microsoft-com:office:office" xmlns:w="urn:schemas-microsoft-com:office:word"><head>
<meta name=Generator content="Microsoft Word 15"><!--[if gte mso 9]><xml><w:WordDocument><w:View>Normal</w:View></w:WordDocument></xml><![endif]-->
<style><!-- p.MsoNormal {margin:0cm; font-size:11.0pt; font-family:"Calibri",sans-serif;} --></style></head><body lang=EN-GB style='tab-interval:36.0pt'>
<!--StartFragment--><h1>Report<o:p></o:p></h1><p class=MsoNormal>First <b style='mso-bidi-font-weight:normal'>bold</b> and
<i>italic</i> words.<o:p></o:p></p><p class=MsoNormal><o:p>&nbsp;</o:p></p><p class=MsoListParagraphCxSpFirst style='text-indent:-18.0pt;mso-list:
l0 level1 lfo1'><![if !supportLists]><span style='font-family:Symbol;mso-fareast-font-family:Symbol'><span style='mso-list:Ignore'>·<span
style='font:7.0pt "Times New Roman"'>&nbsp;&nbsp;&nbsp;&nbsp; </span></span></span><![endif]>One<o:p></o:p></p><p class=MsoListParagraphCxSpMiddle
style='margin-left:72.0pt;mso-list:l0 level2 lfo1'><![if !supportLists]><span style='font-family:"Courier New"'><span style='mso-list:Ignore'>o<span>&nbsp;
</span></span></span><![endif]>Nested<o:p></o:p></p><p class=MsoListParagraphCxSpLast style='mso-list:l0 level1 lfo1'><![if !supportLists]><span
style='font-family:Symbol'><span style='mso-list:Ignore'>·<span>&nbsp;</span></span></span><![endif]>Two<o:p></o:p></p><p class=MsoListParagraph
style='mso-list:l1 level1 lfo2'><![if !supportLists]><span style='mso-list:Ignore'>1.<span>&nbsp;</span></span><![endif]>Numbered<o:p></o:p></p><p class=MsoNormal><span
style='font-family:"MS Gothic"'>☐</span> To do<o:p></o:p></p><p class=MsoNormal><span style='font-family:"MS Gothic"'>☒</span> Done<o:p></o:p></p><table
class=MsoTableGrid border=1><tr><td width=200 valign=top><p class=MsoNormal><b>Name<o:p></o:p></b></p></td><td><p class=MsoNormal>Size<o:p></o:p></p></td></tr><tr><td><p
class=MsoNormal>A|B<o:p></o:p></p></td><td><p class=MsoNormal>2<o:p></o:p></p></td></tr></table><!--EndFragment--></body></html>"""

WORD_ON_THE_WEB = """<div class="ListContainerWrapper SCXW1"><ul class="BulletListStyle1 SCXW1" role="list"><li data-leveltext="" data-font="Symbol"
data-listid="3" data-aria-posinset="1" data-aria-level="1" role="listitem" class="OutlineElement"><p class="Paragraph"><span class="TextRun"><span
class="NormalTextRun">One</span></span><span class="EOP">&nbsp;</span></p></li></ul></div><div class="ListContainerWrapper SCXW1"><ul><li data-listid="3"
data-aria-level="2"><p><span>Nested</span></p></li></ul></div><div class="ListContainerWrapper"><ul><li data-listid="3" data-aria-level="1"><p>Two</p></li></ul></div>"""

APPLE_NOTES = """<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.01//EN" "http://www.w3.org/TR/html4/strict.dtd"><html><head><meta http-equiv="Content-Type"
content="text/html; charset=UTF-8"><meta name="Generator" content="Cocoa HTML Writer"><meta name="CocoaVersion" content="2299"><style type="text/css">
p.p1 {margin: 0.0px 0.0px 0.0px 0.0px; font: 13.0px 'Helvetica Neue'} p.p2 {margin: 0.0px; font: 13.0px 'Helvetica Neue'; min-height: 15.0px}
li.li1 {margin: 0.0px; font: 13.0px 'Helvetica Neue'}</style></head><body><p class="p1"><b>Shopping</b></p><p class="p1">for the weekend</p><p class="p2"><br></p><ul
class="ul1"><li class="li1"><span class="s1"></span>Milk</li><li class="li1"><span class="s1"></span>Bread<ul class="ul1"><li class="li1">whole
grain</li></ul></li></ul><p class="p1">☑ Paid</p></body></html>"""

GMAIL = """<div dir="ltr"><div>Hi Ada,</div><div><br></div><div>see <a href="https://example.org/">https://example.org/</a> and <b>reply</b>&nbsp;soon.<br>Grace</div><br><div
class="gmail_quote"><div dir="ltr" class="gmail_attr">On Mon, Ada wrote:<br></div><blockquote class="gmail_quote" style="margin:0px 0px 0px 0.8ex;
border-left:1px solid rgb(204,204,204);padding-left:1ex"><div dir="ltr">First<div>Second</div><div><br></div><div>Third</div></div></blockquote></div></div>"""

GITHUB = """<meta charset='utf-8'><div class="markdown-heading" dir="auto"><h2 tabindex="-1" class="heading-element" dir="auto">Install</h2><a
id="user-content-install" class="anchor" aria-label="Permalink: Install" href="https://github.com/a/b#install"><svg class="octicon octicon-link"><path
d="m7.775"></path></svg></a></div><p dir="auto">Run <code>make *all*</code> in a <em>shell</em>:</p><div class="highlight highlight-source-shell notranslate
position-relative overflow-auto" dir="auto"><pre><span class="pl-c1">cd</span> hesper
make   all</pre><div class="zeroclipboard-container"><clipboard-copy aria-label="Copy" value="cd"><svg></svg></clipboard-copy></div></div><ul
class="contains-task-list"><li class="task-list-item enabled"><input type="checkbox" id="" disabled="" class="task-list-item-checkbox"> write <strong>tests</strong></li><li
class="task-list-item enabled"><input type="checkbox" disabled="" class="task-list-item-checkbox" checked=""> build<ul><li class="task-list-item"><input
type="checkbox"> release</li></ul></li></ul><ol start="3" dir="auto"><li>three<pre><code>a</code></pre></li><li><p>four</p><p>more</p></li></ol><table><thead><tr><th
align="left">Name</th><th align="right">Size</th></tr></thead><tbody><tr><td><code>a|b</code></td><td align="right">1<br>2</td></tr></tbody></table><img
src="https://camo.githubusercontent.com/x" alt="build [x]" data-canonical-src="https://ci"><hr>"""

VS_CODE = """<meta charset='utf-8'><div style="color: #cccccc;background-color: #1f1f1f;font-family: 'Droid Sans Mono', 'monospace', monospace;font-weight:
normal;font-size: 14px;line-height: 19px;white-space: pre;"><div><span style="color: #569cd6;">const</span><span style="color: #cccccc;"> a = </span><span
style="color: #b5cea8;">1</span></div><br><div><span style="color: #cccccc;">  a++</span></div></div>"""

WIKIPEDIA = """<p><b>Rome</b> (<a href="https://en.wikipedia.org/wiki/Italian_language" title="Italian language">Italian</a> and <a
href="https://en.wikipedia.org/wiki/Latin_(language)" class="mw-redirect">Latin</a>: <i lang="la">Roma</i>) is the <a
href="//en.wikipedia.org/wiki/Capital">capital</a> of Italy.<sup id="cite_ref-1" class="reference"><a
href="https://en.wikipedia.org/wiki/Rome#cite_note-1"><span class="cite-bracket">[</span>1<span class="cite-bracket">]</span></a></sup></p><h2
id="History">History<span class="mw-editsection"><span>[</span><a href="/w/index.php?action=edit">edit</a>]</span></h2><span class="mwe-math-element"><span
class="mwe-math-mathml-inline" style="display: none;"><math alttext="x"><mi>x</mi></math></span><img src="https://wikimedia.org/api/rest_v1/media/math/render/svg/1"
alt="{\\displaystyle x_{1}}"></span><dl><dd>indented</dd></dl>"""

KEEP = """<div role="list"><div role="listitem"><div role="checkbox" aria-checked="false" aria-label="item"></div><div dir="ltr"><span>Eggs</span></div></div><div
role="listitem"><div role="checkbox" aria-checked="true"></div><div dir="ltr"><span>Salt</span></div></div></div>"""

SHEETS = """<meta charset='utf-8'><google-sheets-html-origin><style type="text/css"><!--td {border: 1px solid #cccccc;}br {mso-data-placement:same-cell;}--></style><table
xmlns="http://www.w3.org/1999/xhtml" cellspacing="0" dir="ltr"><colgroup><col width="100"/></colgroup><tbody><tr style="height:21px;"><td
data-sheets-value="{}">Name</td><td style="text-align:right;">Age</td></tr><tr><td>Ada</td><td style="text-align:right;">36</td></tr><tr><td colspan="2">all</td></tr></tbody></table>"""

PLAIN = None  # the plain text is pasted

CASES = {
    "Google Docs": (GOOGLE_DOCS, "## Trip to Rome\n\nWe leave on **Monday**, see [the plan](https://example.org/trip).\n\n- Passport\n  - *valid*\n- ~~Tent~~\n\n"
        "- [ ] Milk\n- [x] Bread"),
    "Word": (WORD, "# Report\n\nFirst **bold** and *italic* words.\n\n- One\n  - Nested\n- Two\n1. Numbered\n- [ ] To do\n- [x] Done\n\n"
        "| **Name** | Size |\n| --- | --- |\n| A\\|B | 2 |"),
    "Word on the web": (WORD_ON_THE_WEB, "- One\n  - Nested\n- Two"),
    "Apple Notes": (APPLE_NOTES, "**Shopping**\nfor the weekend\n\n- Milk\n- Bread\n  - whole grain\n\n- [x] Paid"),
    "Gmail": (GMAIL, "Hi Ada,\n\nsee https://example.org/ and **reply** soon.\nGrace\n\nOn Mon, Ada wrote:\n\n> First\n> Second\n>\n> Third"),
    "GitHub": (GITHUB, "## Install\n\nRun `make *all*` in a *shell*:\n\n```shell\ncd hesper\nmake   all\n```\n\n- [ ] write **tests**\n- [x] build\n  - [ ] release\n\n"
        "3. three\n\n   ```\n   a\n   ```\n4. four\n\n   more\n\n| Name | Size |\n| --- | ---: |\n| `a\\|b` | 1 2 |\n\n"
        "![build \\[x\\]](https://camo.githubusercontent.com/x)\n\n---"),
    "VS Code": (VS_CODE, PLAIN),
    "JetBrains": ("<html><body><pre style=\"background-color:#2b2b2b;font-family:'JetBrains Mono',monospace;\"><span>val</span> a = 1</pre></body></html>", PLAIN),
    "Wikipedia": (WIKIPEDIA, "**Rome** ([Italian](https://en.wikipedia.org/wiki/Italian_language) and [Latin](https://en.wikipedia.org/wiki/Latin_%28language%29): *Roma*) is the "
        "[capital](https://en.wikipedia.org/wiki/Capital) of Italy.[\\[1\\]](https://en.wikipedia.org/wiki/Rome#cite_note-1)\n\n## History\n\n"
        "![{\\\\displaystyle x_{1}}](https://wikimedia.org/api/rest_v1/media/math/render/svg/1)\nindented"),
    "Google Keep": (KEEP, "- [ ] Eggs\n- [x] Salt"),
    "Google Sheets": (SHEETS, "| Name | Age |\n| --- | ---: |\n| Ada | 36 |\n| all | |"),
    # Inline
    "emphasis across spaces": ("a<b> b </b>c <i><b>d</b> e</i>", "a **b** c ***d*** *e*"),
    "emphasis that touches": ("<b>Note:</b>text, <b>“x”</b>y, <b></b><i> </i>z", "**Note**:text, **“x**”y, z"),
    "emphasis over lines": ("<b>a<br>b</b>", "**a**\n**b**"),
    "weights win": ("<b>a<span style='font-weight: 400'>b</span></b><span style='font-weight:bold'>c</span>", "**a**b**c**"),
    "headings are not bold": ("<h1><b>A</b> b<br>c</h1><h3></h3>", "# A b c"),
    "code with backticks": ("<code>a`b</code> <code>`</code>", "``a`b`` `` ` ``"),
    "a fence in a fence": ("x<pre><code class='language-md'>```\na\n```\n</code></pre>", "x\n\n````md\n```\na\n```\n````"),
    "white space": ("<p>  a \n\t b&nbsp; c <i> d</i> </p>\n\n <p>e</p><b>f</b>", "a b  c *d*\n\ne\n\n**f**"),
    "preserved space": ("<b>x</b><span style='white-space: pre-wrap'>a  b\nc</span>", "**x**a  b\nc"),
    "line breaks": ("<i>a</i><br><br><br>b<div>c<br></div><div><br></div><div>d</div>", "*a*\n\nb\nc\n\nd"),
    "links": ("<a href='https://a.b/x y'>x</a> <a href='mailto:a@b.de'>a@b.de</a> <a href='/local'>local</a> <a href='#x'>here</a> <a href='https://a.b/'></a>",
        "[x](https://a.b/x%20y) a@b.de local here"),
    "a link with blocks and a picture": ("<a href='https://a.b/'><div><img src='https://c.d/e.png' alt='E'></div><h3>Title</h3></a>",
        "[![E](https://c.d/e.png)](https://a.b/)\n\n### [Title](https://a.b/)"),
    "a link after an exclamation mark": ("Wow!<a href='https://a.b/c'>x</a>", "Wow\\![x](https://a.b/c)"),
    "pictures": ("<b>p</b> <img src='https://a.b/c.png'> <img src='cid:1' alt='alt text'> <img src='file:///C:/x.png' alt=''> <img src='blob:x' alt='b'>"
        "<img src='https://t.r/a.gif' width=1 height=1> <img class='emoji' src='https://a.b/1f600.png' alt='😀'>", "**p** ![](https://a.b/c.png) alt text b 😀"),
    "a small picture in the HTML": ("<img src='data:image/png;base64,iVBORw0KGgo=' alt='dot'>", "![dot](data:image/png;base64,iVBORw0KGgo=)"),
    # Blocks
    "nested lists": ("<ol><li>a<ol><li>b<ul><li>c</li></ul></li></ol>after</li><li>d</li></ol>", "1. a\n   1. b\n      - c\n\n   after\n2. d"),
    "an item with only a list": ("<ul><li>a</li><li><ul><li>b</li></ul></li><li></li><li>c</li></ul>", "- a\n  - b\n- c"),
    "a list that begins deep": ("<ul><ul><ul><li>a</li></ul></ul><li>b</li></ul>", "- a\n- b"),
    "quotes": ("<blockquote><p>a</p><ul><li>b</li></ul><blockquote>c</blockquote></blockquote><blockquote>d</blockquote>", "> a\n>\n> - b\n>\n> > c\n\n> d"),
    "a layout table": ("<table><tr><td><p>a</p><ul><li>b</li></ul></td></tr></table>", "a\n\n- b"),
    "cells over columns and rows": ("<table><tr><th rowspan=2>a</th><th>b</th></tr><tr><td>c</td></tr><tr><td colspan=99999>d</td></tr></table>",
        "| a | b |" + " |" * 98 + "\n| --- | --- |" + " --- |" * 98 + "\n| | c |" + " |" * 98 + "\n| d | |" + " |" * 98),
    # What is escaped
    "escapes": ("<b>x</b> 2 * 3 a*b*c snake_case __init__ <span>&lt;b&gt; a &lt; b &amp;amp; AT&amp;T ~~x~~ `y` [a](b) [[c]] [1] \\* C:\\d</span>",
        "**x** 2 * 3 a\\*b\\*c snake_case \\_\\_init\\_\\_ \\<b> a < b \\&amp; AT&T \\~\\~x\\~\\~ \\`y\\` \\[a](b) \\[\\[c]] [1] \\\\\\* C:\\d"),
    "a lone star": ("<i>x</i><p>costs 5*</p><p>a_b _c</p><p>https://a.b/_c_*d*</p>", "*x*\n\ncosts 5*\n\na_b _c\n\nhttps://a.b/_c_*d*"),
    "starts of lines": ("<i>x</i><p># a</p><p>#tag</p><p>1. b<br>- c<br>-5<br>+ d<br>&gt; e<br>---<br>===<br>2020 f</p>",
        "*x*\n\n\\# a\n\n#tag\n\n1\\. b\n\\- c\n-5\n\\+ d\n\\> e\n\\---\n\\===\n2020 f"),
    # The plain text is used
    "words without format": ("<meta charset=utf-8><span style='color: red'>1. a * b</span>", PLAIN),
    "a bare link": ("<a href='https://example.org/a_b_'>https://example.org/a_b_</a>", "https://example.org/a_b_"),
    "nothing": ("", PLAIN),
    "no words": ("<b> </b><ul></ul>", PLAIN),
}  # fmt: skip


@pytest.fixture(scope="module")
def run(browser, server):
    """Runs JavaScript in a page with `markdownOf`. Nothing may be requested, and no script of the HTML may run."""
    context = browser.new_context()
    page = context.new_page()
    errors = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto(f"{server.url}/https.html")
    page.evaluate("async () => { window.markdownOf = (await import('/js/ui/paste.js')).markdownOf }")
    page.evaluate("() => addEventListener('securitypolicyviolation', event => console.error(`policy: ${event.violatedDirective}`))")
    page.on("request", lambda request: errors.append(request.url))
    yield lambda body, argument=None: page.evaluate(f"argument => {{ {body} }}", argument)
    page.evaluate("() => new Promise(resolve => setTimeout(resolve, 100))")
    context.close()
    assert errors == []


@pytest.mark.parametrize("name", CASES)
def test_html_becomes_markdown(run, name):
    html, expected = CASES[name]
    assert run("return markdownOf(argument, 'plain')", html) == expected


HOSTILE = {
    "scripts": ("<script>xss()</script><b onclick='xss()' onmouseover=xss()>a</b><svg onload=xss()><script>xss()</script></svg>"
        "<img src=x onerror=xss()><style>@import url(https://evil.example/a.css)</style><iframe src='https://evil.example/'></iframe>"
        "<link rel=stylesheet href='https://evil.example/b.css'><b style='background: url(https://evil.example/c.png)'>b</b>"
        "<video src='https://evil.example/v.mp4' poster='https://evil.example/p.png' autoplay></video><meta http-equiv=refresh content='0;url=https://evil.example/'>"
        "<base href='https://evil.example/'><a href='page'>c</a><img src='//evil.example/d.png' srcset='https://evil.example/e.png 2x'>"
        "<template><img src=y onerror=xss()></template><math><mtext><table><mglyph><style><img src=z onerror=xss()>",
        "**ab**c![](https://evil.example/d.png)"),
    "schemes": ("<b>x</b><a href='javascript:xss()'>a</a><a href=' java\nscript:xss()'>b</a><a href='data:text/html,<script>xss()</script>'>c</a>"
        "<a href='vbscript:x'>d</a><a href='blob:https://x/y'>e</a><a href='file:///etc/passwd'>f</a><a href='&#106;avascript:xss()'>g</a>"
        "<a href='https://a.b/\"onclick=xss()'>h</a><img src='javascript:xss()' alt='i'><img src='data:image/svg+xml;base64,AA==' alt='j'>"
        "<a href='tel:+49 30 1'>k</a>", "**x**abcdefg[h](https://a.b/%22onclick=xss%28%29)ij[k](tel:+49%2030%201)"),
    "marks of Markdown in names": ("<img src='https://a.b/c' alt='](javascript:xss()) [x'><a href='https://a.b/)](javascript:xss())'>]( [y</a>",
        "![\\](javascript:xss()) \\[x](https://a.b/c)[\\]( \\[y](https://a.b/%29]%28javascript:xss%28%29%29)"),
    "deep": ("<div>" * 10_000 + "a", PLAIN),
    "deep lists": ("<ul><li>" * 199 + "a", PLAIN),
    "3 MiB": ("<b>a</b>" * (3 << 17), PLAIN),
    "2 MiB of tags": ("<b>a</b>b" * ((2 << 20) // 9), PLAIN),
    "a style that is text": ("<b>a</b> style=x onx = 1 <a href='https://a.b/style=/onx=1'>b</a> &lt;style&gt;", "**a** style=x onx = 1 [b](https://a.b/style=/onx=1) \\<style>"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_html_runs_and_loads_nothing(run, name):
    html, expected = HOSTILE[name]
    assert run("return markdownOf(argument, 'plain')", html) == expected


PARTS = ["<b>", "</b>", "<i>", "<ul><li>", "</ul>", "<li>", "<ol start=7>", "<p>", "</p>", "<div>", "</div>", "<br>", "<table><tr><td>", "<td rowspan=3 colspan=2>",
    "<tr>", "</table>", "<pre>", "</pre>", "<blockquote>", "</blockquote>", "<a href='https://a.b/'>", "</a>", "<h2>", "<input type=checkbox checked>", "<code>", "</code>",
    "<img src='https://a.b/c' alt='d'>", "<hr>", "<p style='mso-list:l0 level3 lfo1'>", "<li data-listid=1 aria-level=4>", "<span style='font-weight:bold;white-space:pre'>",
    "<!--", "-->", "<svg>", "<math>", "<select>", "<style>", "</style>", "word", " ", "\n", "*", "_", "`", "[", "](", "&nbsp;", "&lt;", "☐ ", "\\", "|", "#", "1. ", "é🌅"]  # fmt: skip


def test_random_html_never_fails(run, seed):
    """Each result is text or null, and words are neither lost nor doubled."""
    chance = random.Random(seed)
    pieces = ["".join(chance.choice(PARTS) for _ in range(chance.randrange(60))) for _ in range(400)]
    results = run("return argument.map(html => markdownOf(html, ''))", pieces)
    assert all(result is None or isinstance(result, str) and result.strip() for result in results)
    words = [[f"w{number}w" for number in range(20)] for _ in range(200)]
    visible = [part for part in PARTS if part not in ("<!--", "-->", "<select>", "<style>", "<svg>", "<math>", "word", "\\", "`", "<pre>", "<code>")]
    pieces = ["".join(chance.choice(visible) + word + chance.choice(visible) for word in each) for each in words]
    for html, each, result in zip(pieces, words, run("return argument.map(html => markdownOf(html, ''))", pieces), strict=True):
        for word in each:
            assert result.count(word) == 1, (html, result)


LARGE = {
    "words": ("Lorem ipsum <b>dolor</b> sit amet, consectetur &amp; so on, until the line is long. ", 2_000_000),
    "escapes": ("a* _b [c` ", 2_000_000),
    "brackets": ("[a", 2_000_000),
    "open lists": ("<ul><li>a", 200_000),
    "code": ("<b>x</b><pre>" + "let a = 1\n" * 1000 + "</pre>", 2_000_000),
    "quotations": ("<blockquote>" * 150 + "a<br>" * 3000 + "</blockquote>" * 150, 500_000),
    "cells": ("<table>" + "<tr><td rowspan=9999>a<td colspan=9999>b" * 300 + "</table>", 500_000),
    "attributes": ("<b style=x style=y data-a='" + "z" * 10_000 + "'>a</b>", 2_000_000),
}  # fmt: skip


def test_two_megabytes_do_not_take_quadratic_time(browser, server):
    """Each takes 0.1 to 0.3 s of processor time. The limit is ten times that, because machines differ; quadratic time is minutes."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{server.url}/https.html")
    page.evaluate("async () => { window.markdownOf = (await import('/js/ui/paste.js')).markdownOf }")
    processor_time = processor_clock(page)
    slow = {}
    for name, (part, size) in LARGE.items():
        page.evaluate("([part, size]) => { window.html = part.repeat(Math.ceil(size / part.length)).slice(0, 2 << 20) }", [part, size])
        before = processor_time()
        page.evaluate("() => { markdownOf(html, 'plain') }")
        if processor_time() - before > 3:
            slow[name] = processor_time() - before
    context.close()
    assert slow == {}
