// The account: signing in and out, its devices, and all that it holds as files.

import { exportAll, importFiles } from "../archive/archive.js"
import { button, byteText, fill, h, icon, longDate, plural, set } from "./dom.js"
import { ago, ask, problemView, save } from "./widgets.js"

/** What a person may call this browser: "Firefox on Linux". */
const deviceName = () => {
  const found = (...names) => names.find(name => navigator.userAgent.includes(name)) ?? "Browser"
  const brand = found("Edg", "OPR", "Firefox", "FxiOS", "CriOS", "Chrome", "Safari")
  const names = { Edg: "Edge", OPR: "Opera", FxiOS: "Firefox", CriOS: "Chrome" }
  return `${names[brand] ?? brand} on ${found("Android", "iPhone", "iPad", "CrOS", "Windows", "Mac", "Linux")}`
}

/** A field that says below itself what is wrong. */
const field = (id, label, properties, hint = "") => {
  const error = h("p", { class: "error", id: `${id}-error` })
  const note = h("p", { class: "field-note", id: `${id}-note` }, hint)
  const say = text => {
    fill(error, text)
    set(input, "aria-invalid", text ? true : null)
    if (text) input.focus()
    return !text
  }
  const input = h("input", { id, required: true, "aria-describedby": `${error.id} ${note.id}`, oninput: () => say(""), ...properties })
  return { element: h("div", { class: "field" }, h("label", { for: id }, label), input, error, note), input, note, say }
}

/**
 * The first page; and signing in again when the session has ended (clients.md, rule 13).
 * @type {Opener}
 */
export const signin = app => {
  const { copy, engine, go } = app
  const { session } = copy
  const unsent = copy.unsentCount() && plural(copy.unsentCount(), "change")
  const invitation = new URLSearchParams(location.hash.split("?")[1]).get("invitation")
  let isOpen = true // until the server has said
  let isNew = invitation !== null && !session
  let timer = 0
  const email = field("email", "E-mail", { type: "email", autocomplete: "username", value: session?.account.email ?? "", readonly: session && true })
  const password = field("password", "Password", { type: "password" }, "At least 8 characters. Nobody can tell it to you again, so keep it well.")
  const device = field("device", "Name of this device", { maxlength: 100, value: deviceName(), autocomplete: "off" })
  const show = button("Show", { class: "quiet show-password", "aria-label": "Show the password", "aria-pressed": false, onclick: () => {
    const isShown = password.input.type === "text"
    password.input.type = isShown ? "password" : "text"
    set(show, "aria-pressed", !isShown)
  } })
  password.element.append(show)
  const heading = h("h2")
  const problem = h("div")
  const submit = button("", { class: "primary wide", type: "submit" })
  const other = h("p", { class: "muted" })

  const layOut = () => {
    const choice = (text, label, onclick) => fill(other, text, button(label, { class: "quiet", onclick }))
    fill(heading, session ? "Sign in again" : isNew ? "Make an account" : "Sign in")
    fill(submit, isNew ? "Make the account" : "Sign in")
    submit.disabled = false
    password.note.hidden = !isNew
    password.input.autocomplete = isNew ? "new-password" : "current-password"
    if (session) choice("Somebody else? ", "Erase the notes here", leave)
    else if (isNew) choice("You have one? ", "Sign in", turn)
    else if (isOpen || invitation) choice("New here? ", "Make an account", turn)
    else fill(other, "For an account, ask whoever runs this server.")
  }
  const turn = () => {
    isNew = !isNew
    email.say("")
    password.say("")
    fill(problem)
    layOut()
    email.input.focus()
  }
  const leave = () => ask("Erase the notes here?", unsent ? `${unsent} never reached the server and would be lost. Export them first.`
    : "All of them are on the server, too.", "Erase", () => copy.erase(), ["Export", () => go("#/transfer")])
  const wait = seconds => {
    layOut()
    if (seconds < 1) return
    submit.disabled = true
    submit.append(` in ${seconds} s`)
    timer = window.setTimeout(wait, 1000, seconds - 1)
  }
  const explain = error => {
    const { slug, pointer, retryAfter, detail } = error
    const at = [email, password, device].find(({ input }) => pointer?.toLowerCase().includes(input.id))
    if (slug === "unauthenticated") return password.say("E-mail or password is wrong.")
    fill(problem, slug === "email-taken" ? button("Sign in instead", { onclick: turn }) : !at && problemView(error))
    at?.say(slug === "email-taken" ? "There is an account with this e-mail already." : detail)
    if (slug === "too-many-requests") wait(Math.ceil(retryAfter / 1000))
  }
  const send = async event => {
    event.preventDefault()
    const what = { email: email.input.value.trim(), password: password.input.value, deviceName: device.input.value.trim() }
    const isRight = email.say(/.@./.test(what.email) ? "" : "Like ada@example.org, please.")
      && password.say(what.password.length < (isNew ? 8 : 1) ? "At least 8 characters, please." : "")
      && device.say(what.deviceName ? "" : "Such as “laptop”, please.")
    if (submit.disabled || !isRight) return
    fill(problem)
    fill(submit, "One moment…")
    submit.disabled = true
    try {
      await (isNew ? engine.signUp({ ...what, ...invitation && { invitation } }) : engine.signIn(what))
      go("#/")
    } catch (error) {
      layOut()
      explain(error)
    }
  }

  engine.server().then(server => {
    isOpen = server.signUp === "open"
    layOut()
  }, () => {}) // Sending the form says what is wrong.
  layOut()
  return {
    title: "Sign in", focus: () => (session ? password : email).input.focus(), stop: () => clearTimeout(timer),
    element: h("div", { class: "signin" },
      !session && h("header", null, h("h1", { class: "signin-mark" }, icon("star"), "Hesper"), h("p", { class: "signin-line" },
        "Notes that are there whenever you are: on every device, with or without a network, on a server of your own.")),
      h("form", { class: "stack", novalidate: true, onsubmit: send, "aria-label": "Sign in" }, heading,
        session && h("p", null, `Everything is still here${unsent ? `, also ${unsent} that the server does not have yet` : ""}.`),
        email.element, password.element, device.element, problem, submit, other)),
  }
}

/**
 * Who is signed in, and signing out, here or elsewhere.
 * @type {Opener}
 */
export const devices = app => {
  const { copy, engine, go, toast } = app
  const { session } = copy
  const usage = h("div", { class: "muted" })
  const list = h("ul", { class: "rows" })
  const problem = h("div")

  const leave = (how = {}) => engine.signOut(how).then(() => go("#/"), error => ask("Not signed out yet", problemView(error),
    "Erase the notes here all the same", () => leave({ anyway: true }), ["Try again", leave]))
  const askToLeave = () => {
    const unsent = copy.unsentCount()
    const syncFirst = () => {
      engine.syncNow()
      toast("Sending. Sign out when all is sent.")
    }
    ask("Sign out here?", [h("p", null, "The notes in this browser are erased. They stay on the server and on your other devices."),
      unsent > 0 && h("p", { class: "danger-text" }, `${plural(unsent, "change")} made here did not reach the server yet, and would be lost.`)],
    unsent ? "Lose them and sign out" : "Sign out", leave,
    .../** @type {[string, () => any][]} */ (unsent ? [["Export", () => go("#/transfer")], ["Sync first", syncFirst]] : []))
  }
  const askToSignOut = (leaving, whom) => ask(`Sign out ${whom}?`, "What is there stays there; signing in again takes the password.",
    "Sign out", async () => {
      await app.attempt(Promise.all(leaving.map(({ uniqueID }) => engine.signOutDevice(uniqueID)))
        .then(() => toast(`${whom} ${leaving[1] ? "are" : "is"} signed out`)))
      load()
    })
  const layOut = known => {
    const others = known.filter(({ current }) => !current)
    fill(list, known.map(device => h("li", { class: "row" }, h("div", { class: "row-main" },
      h("p", { class: "row-title" }, device.name, device.current && h("span", { class: "chip" }, "this device")),
      device.lastUseDate && h("p", { class: "muted small", title: longDate(device.lastUseDate) },
        `Last used ${ago(device.lastUseDate)} · signed in ${ago(device.creationDate)}`)),
    device.current ? button("Sign out here", { icon: "sign-out", onclick: askToLeave })
      : button("Sign out", { "aria-label": `Sign out ${device.name}`, onclick: () => askToSignOut([device], device.name) }))),
    others[1] && h("li", { class: "row" }, button("Sign out all others", { onclick: () => askToSignOut(others, "all others") })))
  }
  const load = async () => {
    fill(problem)
    try {
      const [{ usage: { objects, bytes, attachmentBytes }, quota }, all] = await Promise.all([engine.account(), engine.devices()])
      fill(usage, `${plural(objects, "object")}, ${byteText(bytes)}. Pictures and files: ${byteText(attachmentBytes)}`,
        quota && [` of ${byteText(quota)}`, h("progress", { max: quota, value: attachmentBytes, "aria-label": "Room taken" })])
      layOut(all)
    } catch (error) {
      fill(problem, problemView(error, load))
    }
  }
  layOut([{ ...session?.device, current: true }]) // Signing out here is possible without the server's list.
  load()
  return {
    title: "Account and devices",
    element: h("div", null, h("section", { class: "section" }, h("h2", null, "Account"), h("p", null, session?.account.email), usage),
      h("section", { class: "section" }, h("h2", null, "Devices"), list, problem)),
  }
}

/** Imports, and says what came of it. */
const take = async (copy, files, progress) => {
  const { refused, ...counts } = await importFiles(copy, files, progress)
  const said = Object.entries({ notes: "New notes", tags: "New tags", attachments: "New files", changed: "Changed notes",
    unchanged: "Here already", deleted: "Deleted here, and left so", passedOver: "No texts" })
  const text = said.filter(([name]) => counts[name]).map(([name, words]) => `${words}: ${counts[name].toLocaleString()}.`).join(" ")
  return { text: text || "Nothing was found to import.", lines: refused.map(({ path, reason }) => `${path}: ${reason}`) }
}

/**
 * What is dropped beside a note is imported: else the browser would leave the page for it.
 * @type {(app: Shell) => void}
 */
export const takeDrops = app => ["dragover", "drop"].forEach(name => addEventListener(name, event => {
  const { dataTransfer } = /** @type {DragEvent} */ (event)
  if (event.defaultPrevented || !dataTransfer?.types.includes("Files")) return
  event.preventDefault()
  if (name === "drop" && app.copy.session) app.attempt(take(app.copy, [...dataTransfer.files], () => {})
    .then(({ text, lines }) => app.toast([text, ...lines].join(" "), { seconds: 10 })))
}))

/**
 * Everything out as one archive, and in again, with or without a network.
 * @type {Opener}
 */
export const transfer = ({ copy, engine }) => {
  /** Does what takes long, says how far it is, and what came of it. */
  const run = async (place, work) => {
    const bar = h("progress", { "aria-label": "Progress" })
    fill(place, bar)
    try {
      const { text, lines } = await work((done, of) => Object.assign(bar, { max: of, value: done }))
      fill(place, h("p", null, text), lines[0] && h("details", null, h("summary", null, `${plural(lines.length, "thing")} left out`),
        h("ul", { class: "small" }, lines.map(line => h("li", null, line)))))
    } catch (error) {
      fill(place, problemView(error, () => run(place, work)))
    }
  }
  const pack = async progress => {
    const { blob, name, notes, attachments, missing } = await exportAll(copy, { progress, bytesOf: async id => await copy.bytes(id) ?? engine.want(id) })
    save(blob, name)
    return { text: `${name}: ${plural(notes, "note")}, ${plural(attachments, "file")}.`, lines: missing }
  }
  const section = (title, text, ...buttons) => {
    const place = h("div", { role: "status" })
    return h("section", { class: "section stack" }, h("h2", null, title), h("p", null, text), h("div", { class: "actions" }, buttons.map(make => make(place))), place)
  }
  const chooser = (label, kind) => place => {
    const input = h("input", { type: "file", hidden: true, multiple: true, ...kind, onchange: () => {
      const files = [...input.files ?? []]
      input.value = ""
      run(place, progress => take(copy, files, progress))
    } })
    return [button(label, { icon: "file", onclick: () => input.click() }), input]
  }
  return {
    title: "Import and export",
    element: h("div", null,
      section("Export", "One zip with each note as a Markdown file, pictures and files, and all of it once more for Hesper to read. Works without a network, too.",
        place => button("Export everything", { icon: "download", onclick: () => run(place, pack) })),
      section("Import", "Such a zip, or texts and Markdown files, also whole folders, whose names become tags. Nothing comes twice.",
        chooser("Choose files", { accept: ".zip,.md,.markdown,.txt,.text" }), chooser("Choose a folder", { webkitdirectory: true }))),
  }
}
