// The account: signing in and out, its devices, and all that it holds as files.

import { exportAll, importFiles } from "../archive/archive.js"
import { button, byteText, copyOf, fill, h, longDate, plural, set } from "./dom.js"
import { ago, ask, problemView, save } from "./widgets.js"

/** What a person may call this browser: "Firefox on Linux". */
const deviceName = () => {
  const found = (...names) => names.find(name => navigator.userAgent.includes(name)) ?? "Browser"
  const brand = found("Edg", "OPR", "Firefox", "FxiOS", "CriOS", "Chrome", "Safari")
  const names = { Edg: "Edge", OPR: "Opera", FxiOS: "Firefox", CriOS: "Chrome" }
  return `${names[brand] ?? brand} on ${found("Android", "iPhone", "iPad", "CrOS", "Windows", "Mac", "Linux")}`
}

/**
 * The first page; and signing in again when the session has ended (clients.md, rule 13).
 * @type {Opener}
 */
export const signin = app => {
  const { copy, engine, go } = app
  const { session } = copy
  const { element, first, form, heading, kept, show, rule, problem, submit, question, turn } = copyOf("signin")
  const { email, password, device } = form
  const unsent = copy.unsentCount() && plural(copy.unsentCount(), "change")
  const invitation = new URLSearchParams(location.hash.split("?")[1]).get("invitation")
  let isOpen = true // until the server has said
  let isNew = invitation !== null && !session
  let timer = 0

  /** Says below a field what is wrong. */
  const say = (input, text) => {
    fill(input.parentElement.querySelector(".error"), text)
    set(input, "aria-invalid", text ? true : null)
    if (text) input.focus()
    return !text
  }
  const layOut = () => {
    const canTurn = session || isNew || isOpen || invitation
    fill(heading, session ? "Sign in again" : isNew ? "Make an account" : "Sign in")
    fill(submit, isNew ? "Make the account" : "Sign in")
    submit.disabled = false
    rule.hidden = !isNew
    password.autocomplete = isNew ? "new-password" : "current-password"
    fill(question, session ? "Somebody else?" : isNew ? "You have one?" : canTurn ? "New here?" : "For an account, ask whoever runs this server.")
    fill(turn, session ? "Erase the notes here" : isNew ? "Sign in" : "Make an account")
    turn.hidden = !canTurn
  }
  const turnOver = () => {
    isNew = !isNew
    for (const input of [email, password]) say(input, "")
    fill(problem)
    layOut()
    email.focus()
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
    const at = [email, password, device].find(({ id }) => pointer?.toLowerCase().includes(id))
    if (slug === "unauthenticated") return say(password, "E-mail or password is wrong.")
    fill(problem, slug === "email-taken" ? button("Sign in instead", { onclick: turnOver }) : !at && problemView(error))
    if (at) say(at, slug === "email-taken" ? "There is an account with this e-mail already." : detail)
    if (slug === "too-many-requests") wait(Math.ceil(retryAfter / 1000))
  }
  const send = async event => {
    event.preventDefault()
    const what = { email: email.value.trim(), password: password.value, deviceName: device.value.trim() }
    const isRight = say(email, /.@./.test(what.email) ? "" : "Like ada@example.org, please.")
      && say(password, what.password.length < (isNew ? 8 : 1) ? "At least 8 characters, please." : "")
      && say(device, what.deviceName ? "" : "Such as “laptop”, please.")
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

  if (session) {
    first.remove()
    fill(kept, `Everything is still here${unsent ? `, also ${unsent} that the server does not have yet` : ""}.`)
    email.value = session.account.email
    email.readOnly = true
  }
  device.value = deviceName()
  form.onsubmit = send
  form.oninput = event => say(event.target, "")
  turn.onclick = session ? leave : turnOver
  show.onclick = () => {
    const isShown = password.type === "text"
    password.type = isShown ? "password" : "text"
    set(show, "aria-pressed", !isShown)
  }
  layOut()
  engine.server().then(server => {
    isOpen = server.signUp === "open"
    layOut()
  }, () => {}) // Sending the form says what is wrong.
  return { element, title: "Sign in", focus: () => (session ? password : email).focus(), stop: () => clearTimeout(timer) }
}

/**
 * Who is signed in, and signing out, here or elsewhere.
 * @type {Opener}
 */
export const devices = app => {
  const { copy, engine, go, toast } = app
  const { session } = copy
  const { element, email, usage, list, problem } = copyOf("devices")
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
  fill(email, session?.account.email)
  layOut([{ ...session?.device, current: true }]) // Signing out here is possible without the server's list.
  load()
  return { element, title: "Account and devices" }
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
  const exported = async progress => {
    const { blob, name, notes, attachments, missing } = await exportAll(copy, { progress, bytesOf: async id => await copy.bytes(id) ?? engine.want(id) })
    save(blob, name)
    return { text: `${name}: ${plural(notes, "note")}, ${plural(attachments, "file")}.`, lines: missing }
  }
  const { element, pack, packed, files, folder, taken } = copyOf("transfer")
  pack.onclick = () => run(packed, exported)
  const inputs = element.querySelectorAll("input")
  for (const [at, button] of [files, folder].entries()) {
    const input = inputs[at]
    button.onclick = () => input.click()
    input.onchange = () => {
      const chosen = [...input.files]
      input.value = ""
      run(taken, progress => take(copy, chosen, progress))
    }
  }
  return { element, title: "Import and export" }
}
