"""The app in German: chosen by the browser or by the setting, with German plurals, dates, names and errors, also offline."""

import re

import pytest
from app import App
from client import PASSWORD, Server
from device import Device
from playwright.sync_api import expect
from test_web_looks import SIZES

# Texts of the templates that have a translation but are still English.
UNTRANSLATED = """async () => {
  const {texts} = await import("/js/text/de.js")
  const {ATTRIBUTES} = await import("/js/ui/language.js")
  const found = []
  for (const root of [document.body, ...[...document.querySelectorAll("template")].map(({content}) => content)]) {
    for (const element of root.querySelectorAll("*")) {
      if (element.closest("[translate=no]")) continue
      const nodes = [...element.childNodes].filter(node => node instanceof Text).map(({data}) => data)
      for (const text of [...nodes, ...ATTRIBUTES.map(name => element.getAttribute(name) ?? "")]) {
        const words = text.trim().replace(/\\s+/g, " ")
        if (/\\p{L}/u.test(words) && Object.hasOwn(texts, words) && texts[words] !== words) found.push(words)
      }
    }
  }
  return found
}"""


# Controls, headings and labels whose text does not fit.
CUT = """() => [...document.querySelectorAll("button, .button, summary, label, dt, dd, kbd, h1, h2, h3, p, .side-link > bdi, .toast > span, .picked")]
  .filter(element => element.checkVisibility({visibilityProperty: true}) && !element.closest(".visually-hidden"))
  .filter(element => getComputedStyle(element).display !== "inline" && element.scrollWidth > element.clientWidth + 1)
  .map(element => `${element.localName} “${element.textContent.trim()}”: ${element.scrollWidth} of ${element.clientWidth} px`)"""


def sign_up_in_german(app: App) -> None:
    """Fills in the form as a person does, with a mistake first."""
    form = app.page.get_by_role("form", name="Anmelden")
    expect(form.get_by_role("heading", name="Anmelden")).to_be_visible()
    form.get_by_role("button", name="Anmelden").click()
    expect(form.get_by_text("Gib eine E-Mail-Adresse ein.")).to_be_visible()
    app.page.get_by_label("E-Mail").fill("niemand@example.org")
    app.page.get_by_label("Passwort", exact=True).fill("nicht richtig")
    form.get_by_role("button", name="Anmelden").click()
    expect(form.get_by_text("E-Mail oder Passwort ist falsch.")).to_be_visible()
    form.get_by_role("button", name="Konto erstellen").click()
    app.page.get_by_label("E-Mail").fill(f"{id(app)}.{app.url[-5:]}@example.org")
    app.page.get_by_label("Passwort", exact=True).fill(PASSWORD)
    form.get_by_role("button", name="Konto erstellen").click()
    expect(app.page.get_by_role("heading", name="Alle Notizen", exact=True)).to_be_visible()


def sort_by_creation(app: App, menu: str = "Sort and select", entry: str = "Date created") -> None:
    app.button(menu).click()
    app.page.get_by_role("menuitemradio", name=entry).click()


@pytest.mark.service_worker
def test_a_german_browser_shows_german(new_app, server: Server):
    server.client()  # With an account on the server, its first page is the sign-in.
    app = new_app(locale="de-AT")
    page = app.page
    sign_up_in_german(app)
    assert page.evaluate("() => [document.documentElement.lang, document.documentElement.dir]") == ["de-AT", "ltr"]
    assert page.evaluate(UNTRANSLATED) == []
    expect(page).to_have_title("Alle Notizen · Hesper")
    # The first note, and its list without it
    page.get_by_role("option", name="Willkommen bei Hesper").click()
    app._expect(lambda: (app.text or "").count("- [ ] "), 4)
    assert "\n\nLösche diese Notiz, wenn du sie nicht mehr brauchst." in app.text
    app.run("await copy.remove([...copy.notes()])")
    app.go("#/")
    expect(page.get_by_text("Noch keine Notizen")).to_be_visible()
    app.go("#/devices")
    expect(page.get_by_text(re.compile(" auf Linux"))).to_be_visible()
    app.go("#/")

    # Counts of 0, 1 and 2, dates of yesterday and of another year
    link = page.get_by_role("link", name="Alle Notizen")
    sort_by_creation(app, "Sortieren und auswählen", "Erstellungsdatum")
    app.run("""const date = new Date(Date.now() - 24 * 3600 * 1000).toISOString()
      await copy.createNote({text: "Von gestern", creationDate: date})""")
    expect(link).to_have_accessible_name(re.compile("1 Notiz$"))
    app.run('await copy.createNote({text: "Von 2020", creationDate: "2020-03-05T10:00:00.000Z"})')
    expect(link).to_have_accessible_name(re.compile("2 Notizen$"))
    expect(page.get_by_role("option", name="Von gestern").locator("time")).to_have_text("Gestern")
    expect(page.get_by_role("option", name="Von 2020").locator("time")).to_have_text("5. März 2020")
    page.get_by_role("searchbox", name="Notizen durchsuchen").fill("gibtesnicht")
    expect(page.get_by_role("status").filter(has_text="Keine Notizen gefunden")).to_have_count(1)
    page.get_by_role("button", name="Suche löschen").click()

    # Several notes
    page.get_by_role("listbox", name="Notizen").get_by_role("option").first.focus()
    page.keyboard.press("Control+a")
    bar = page.get_by_role("toolbar", name="Ausgewählte Notizen")
    expect(bar).to_contain_text("2 ausgewählt")
    bar.get_by_role("button", name="Archivieren").click()
    messages = page.get_by_role("region", name="Mitteilungen")
    expect(messages.get_by_text("2 Notizen archiviert")).to_be_visible()
    messages.get_by_role("button", name="Rückgängig").click()

    # Names, messages and their buttons
    page.get_by_role("option", name="Von gestern").click()
    note = page.get_by_role("article", name="Notiz")
    for name in ("Anheften", "Archivieren", "Mehr", "Bilder oder Dateien hinzufügen"):
        expect(note.get_by_label(name, exact=True).first).to_be_visible()
    note.get_by_role("combobox", name="Schlagwort hinzufügen").fill("Garten")
    expect(page.get_by_role("option", name="„Garten“ erstellen")).to_be_visible()
    page.keyboard.press("Enter")
    expect(note.get_by_role("button", name="Schlagwort Garten entfernen")).to_be_visible()
    note.get_by_role("button", name="Mehr").click()
    page.get_by_role("menuitem", name="Löschen").click()
    expect(messages.get_by_text("Notiz gelöscht")).to_be_visible()
    expect(page.get_by_role("status").filter(has_text=re.compile("Notiz gelöscht. Rückgängig: Strg Z"))).to_have_count(1)
    messages.get_by_role("button", name="Rückgängig").click()
    expect(page.get_by_role("option", name="Von gestern")).to_be_visible()

    # Errors, by their slugs
    app.go("#/devices")
    page.get_by_text("Passwort ändern").first.click()
    page.get_by_label("Aktuelles Passwort").fill("falsch-geraten")
    page.get_by_label("Neues Passwort (mindestens 8 Zeichen)").fill(PASSWORD)
    app.tolerated.add("403")
    page.get_by_role("button", name="Passwort ändern").click()
    expect(page.get_by_role("alert")).to_contain_text("Falsches Passwort")
    page.route("**/v1/devices", lambda route: route.fulfill(
        status=429, content_type="application/problem+json", headers={"Retry-After": "120"},
        body='{"slug": "too-many-requests", "title": "Too many requests", "detail": "Wait", "status": 429}'))
    app.go("#/")
    app.go("#/devices")
    expect(page.get_by_role("alert").filter(has_text="Zu viele Anfragen")).to_contain_text("Versuche es in 2 Minuten erneut.")
    page.unroute("**/v1/devices")

    # Offline, also after a reload
    app.go("#/")
    app.wait_installed()
    app.wait_for("engine.status.identical")
    expect(page.get_by_role("button", name="Synchronisierung: Aktuell")).to_be_visible()
    app.go_offline()
    app.reload()
    expect(page.get_by_role("button", name="Synchronisierung: Offline")).to_be_visible()
    expect(page.get_by_role("heading", name="Alle Notizen", exact=True)).to_be_visible()
    page.get_by_role("option", name="Von gestern").click()
    note.get_by_role("button", name="Mehr").click()
    page.get_by_role("menuitem", name="Verlauf").click()
    expect(page.get_by_role("alert")).to_contain_text("Der Server ist nicht erreichbar")


@pytest.mark.service_worker
@pytest.mark.parametrize("size", ["phone", *(pytest.param(size, marks=pytest.mark.thorough) for size in ("desktop", "tablet"))])
def test_german_texts_fit(new_app, server: Server, size):
    """German is longer than English. Also, everything has a name, a role and contrast, as in English."""
    other = Device(server.client(device_name="Notebook"))
    deleted = other.make_note("Gelöscht")
    note = other.make_note("Ein Beet\n\nKnoblauch bis zum 2. Dezember 2026", tags=[other.make_tag("Garten/Beete/Gemüse")])
    other.sync()
    other.delete(deleted)
    other.sync()
    app = new_app(**SIZES[size], locale="de-DE", reduced_motion="reduce")
    page, found = app.page, {}

    def check(name: str) -> None:
        page.wait_for_function("() => !document.getAnimations().length")
        if faults := app.accessibility(touch=size != "desktop") + page.evaluate(CUT):
            found[name] = faults

    page.get_by_role("button", name="Anmelden").click()
    check("sign-in")
    app.run("await engine.signIn(argument)", {"email": other.client.email, "password": PASSWORD, "deviceName": "Browser"})
    app.go("#/")
    app.wait_for("engine.status.phase === 'synced' && engine.status.identical && copy.notes({}).length === 1")
    check("list")
    page.get_by_role("button", name="Sortieren und auswählen").click()
    check("sort menu")
    page.get_by_role("menuitem", name="Notizen auswählen").click()
    check("selecting, without a note")
    page.get_by_role("option", name="Ein Beet").click()
    expect(page.get_by_role("toolbar", name="Ausgewählte Notizen")).to_contain_text("1 ausgewählt")
    check("selecting")
    page.get_by_role("toolbar", name="Ausgewählte Notizen").get_by_role("button", name="Schlagwörter").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    check("tags of notes")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Auswahl aufheben").click()
    page.get_by_role("searchbox", name="Notizen durchsuchen").fill("gibtesnicht")
    expect(page.get_by_role("button", name="Suche löschen")).to_be_visible()
    check("nothing found")
    page.get_by_role("button", name="Suche löschen").click()
    if size != "desktop":
        page.get_by_role("button", name="Menü").click()
        check("side")
        page.keyboard.press("Escape")
    for fragment, words in (
        (f"#/note/{note}", "Erstellt am"), (f"#/history/{note}", "Aktuelle Version"), ("#/archive", "Das Archiv ist leer"),
        ("#/deleted", "Wiederherstellen"), ("#/transfer", "Ordner auswählen"), ("#/capture", "In Hesper speichern"),
        ("#/devices", "Als verloren melden"),
    ):  # fmt: skip
        app.go(fragment)
        expect(page.get_by_text(words).first).to_be_visible()
        check(fragment)
    for summary in page.locator("summary").all():
        summary.click()
    check("account")
    page.get_by_role("button", name="Als verloren melden").click()
    check("report lost")
    page.keyboard.press("Escape")
    app.go("#/")
    page.get_by_role("button", name=re.compile("^Synchronisierung: ")).click()
    check("sync")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    check("shortcuts")
    page.keyboard.press("Escape")
    app.go_offline()
    app.run('await copy.createNote({text: "Ohne Netz"}); engine.syncNow()')
    expect(page.get_by_role("button", name="Synchronisierung: Offline (1)")).to_be_visible()
    check("offline")
    assert found == {}


def test_a_setting_overrules_the_language_of_the_browser(new_app):
    app = new_app(locale="en-US")
    page = app.page

    def choose(button: str, entry: str) -> None:
        page.get_by_role("button", name=button, exact=True).click()
        page.get_by_role("menuitemradio", name=entry).click()

    # On the sign-in page
    choose("Language", "Deutsch")
    expect(page.get_by_role("button", name="Sprache", exact=True)).to_be_visible()
    assert page.evaluate("() => document.documentElement.lang") == "de"
    choose("Sprache", "English")
    expect(page.get_by_role("button", name="Language", exact=True)).to_be_visible()
    app.sign_up()
    app.run('await copy.createNote({text: "A note", creationDate: "2020-03-05T10:00:00.000Z"})')
    sort_by_creation(app)
    expect(app.row("A note").locator("time")).to_have_text("Mar 5, 2020")
    # In the app, kept across a reload
    app.open("A note")
    app.write()
    app.type(" and words that are not saved yet")
    choose("Language", "Deutsch")
    app.expect_titles("A note and words that are not saved yet")
    expect(page.get_by_role("article", name="Notiz")).to_be_visible()
    expect(page.get_by_role("option", name="A note").locator("time")).to_have_text("5. März 2020")
    app.reload()
    expect(page.get_by_role("link", name="Zuletzt gelöscht")).to_be_visible()
    page.get_by_role("button", name="Sprache", exact=True).click()
    expect(page.get_by_role("menuitemradio", name="Deutsch")).to_be_checked()
    page.get_by_role("menuitemradio", name="Sprache des Browsers").click()
    expect(page.get_by_role("link", name="Recently deleted")).to_be_visible()
    assert page.evaluate("() => document.documentElement.lang") == "en-US"
    app.reload()
    expect(page.get_by_role("link", name="Recently deleted")).to_be_visible()


def test_without_the_file_of_a_translation_the_app_is_english(new_app):
    app = new_app(locale="de-DE", visit=False)
    app.page.route("**/js/text/de.js", lambda route: route.abort())
    app.visit()
    expect(app.page.get_by_label("Password", exact=True)).to_be_visible()
    assert app.page.evaluate("() => document.documentElement.lang") == "en"


@pytest.mark.parametrize("locale, time", [("en-GB", "5 Mar 2020"), *(pytest.param(locale, "Mar 5, 2020", marks=pytest.mark.thorough) for locale in ("en-US", "fr-FR"))])
def test_english_has_the_dates_of_the_region(new_app, locale, time):
    app = new_app(locale=locale)
    loaded = app.page.evaluate("() => performance.getEntriesByType('resource').filter(one => one.name.includes('/text/')).length")
    assert loaded == 0
    app.sign_up()
    app.run('await copy.createNote({text: "A note", creationDate: "2020-03-05T10:00:00.000Z"})')
    sort_by_creation(app)
    expect(app.row("A note").locator("time")).to_have_text(time)
