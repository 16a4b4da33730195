// The first page: signing in, making an account; and signing in again after the session ended (clients.md, rule 13).

import { button, fill, h, icon, plural, set } from "./dom.js"
import { ask, wordsOf } from "./problems.js"

/** @type {Object<string, string>} */
const called = { Edg: "Edge", OPR: "Opera", FxiOS: "Firefox", CriOS: "Chrome", CrOS: "ChromeOS" }
/** @param {...string} signs */
const named = (...signs) => {
  const sign = signs.find(one => navigator.userAgent.includes(one)) ?? "Browser"
  return called[sign] ?? sign
}
/** What a person may call this browser: "Firefox on Linux". */
const deviceName = () => `${named("Edg", "OPR", "Firefox", "FxiOS", "CriOS", "Chrome", "Safari")} on ${
  named("Android", "iPhone", "iPad", "CrOS", "Windows", "Mac", "Linux")}`

/**
 * A field that says below itself what is wrong.
 * @param {string} id @param {string} label @param {Object<string, any>} properties @param {string} [note]
 */
const field = (id, label, properties, note) => {
  const error = h("p", { class: "error", id: `${id}-error` })
  const hint = h("p", { class: "field-note", id: `${id}-note` }, note)
  const input = h("input", { id, name: id, required: true, "aria-describedby": `${id}-error ${id}-note`, oninput: () => say(""), ...properties })
  /** @param {string} text @returns {boolean} whether all is well */
  const say = text => {
    fill(error, text)
    set(input, "aria-invalid", text ? true : null)
    if (text) input.focus()
    return !text
  }
  return { element: h("div", { class: "field" }, h("label", { for: id }, label), input, error, hint), input, say, hint }
}

/** @type {import("./shell.js").Opener} */
export const signin = app => {
  const { copy, engine, go } = app
  const { session } = copy
  const invitation = new URLSearchParams(location.hash.split("?")[1]).get("invitation") ?? undefined
  let isOpen = true // until the server has said
  let isNew = Boolean(invitation) && !session
  let timer = 0

  const email = field("email", "E-mail", { type: "email", autocomplete: "username", value: session?.account.email ?? "", readonly: Boolean(session) })
  const password = field("password", "Password", { type: "password" }, "At least 8 characters. Nobody can tell it to you again, so keep it well.")
  const device = field("device", "Name of this device", { maxlength: 100, value: deviceName(), autocomplete: "off" })
  const show = button("Show", { class: "quiet show-password", "aria-label": "Show the password", "aria-pressed": false, onclick: () => {
    const isShown = password.input.type === "text"
    password.input.type = isShown ? "password" : "text"
    set(show, "aria-pressed", !isShown)
    fill(show, isShown ? "Show" : "Hide")
  } })
  password.element.append(show)
  const heading = h("h2")
  const problem = h("div", { class: "error", role: "alert" })
  const submit = button("", { class: "primary wide", type: "submit" })
  const other = h("p", { class: "muted" })

  const layOut = () => {
    fill(heading, session ? "Sign in again" : isNew ? "Make an account" : "Sign in")
    fill(submit, isNew ? "Make the account" : "Sign in")
    password.hint.hidden = !isNew
    password.input.autocomplete = isNew ? "new-password" : "current-password"
    fill(other, session ? ["Somebody else? ", button("Erase the notes here", { class: "quiet", onclick: leave })]
      : isNew ? ["You have one? ", button("Sign in", { class: "quiet", onclick: turn })]
        : isOpen || invitation ? ["New here? ", button("Make an account", { class: "quiet", onclick: turn })]
          : "For an account, ask whoever runs this server.")
  }
  const turn = () => {
    isNew = !isNew
    fill(problem)
    email.say("")
    password.say("")
    layOut()
    ;(email.input.value ? password : email).input.focus()
  }
  const leave = () => ask(app, "Erase the notes here?", h("p", null, copy.unsentCount()
    ? `${plural(copy.unsentCount(), "change")} never reached the server and would be lost. Export them first.` : "All of them are on the server, too."),
  "Erase", () => copy.erase(), ["Export", () => go("#/transfer")])

  /**
   * The button counts down.
   * @param {number} until
   */
  const wait = until => {
    const seconds = Math.ceil((until - Date.now()) / 1000)
    submit.disabled = seconds > 0
    if (seconds > 0) timer = window.setTimeout(wait, 1000, until)
    else fill(problem)
    layOut()
    if (seconds > 0) submit.append(` in ${seconds} s`)
  }

  /** @param {any} error */
  const explain = error => {
    const { slug, pointer = "", retryAfter, requestID } = error
    const at = [email, password, device].find(({ input }) => pointer.toLowerCase().includes(input.name))
    if (slug === "unauthenticated") return password.say("E-mail or password is wrong.")
    if (slug === "email-taken") {
      email.say("There is an account with this e-mail already.")
      return fill(problem, button("Sign in instead", { onclick: turn }))
    }
    if (at) return at.say(error.detail)
    if (slug === "too-many-requests") wait(Date.now() + (retryAfter ?? 60_000))
    fill(problem, wordsOf(error).join(". "), requestID && h("p", { class: "mono" }, `Request ${requestID}`))
  }

  /** @param {Event} event */
  const send = async event => {
    event.preventDefault()
    const length = new TextEncoder().encode(password.input.value).length
    const what = { email: email.input.value.trim(), password: password.input.value, deviceName: device.input.value.trim() }
    const isComplete = email.say(/.@./.test(what.email) ? "" : "Like ada@example.org, please.")
      && password.say(length > 1024 ? "At most 1,024 bytes, please." : length < (isNew ? 8 : 1) ? "At least 8 characters, please." : "")
      && device.say(what.deviceName ? "" : "Such as “laptop”, please.")
    if (submit.disabled || !isComplete) return
    fill(problem)
    fill(submit, "One moment…")
    submit.disabled = true
    try {
      await (isNew ? engine.signUp({ ...what, ...invitation && { invitation } }) : engine.signIn(what))
      go("#/")
    } catch (error) {
      submit.disabled = false
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
      !session && h("header", null, h("h1", { class: "signin-mark" }, icon("star"), "Hesper"),
        h("p", { class: "signin-line" }, "Notes that are there whenever you are: on every device, with or without a network, on a server of your own.")),
      h("form", { class: "stack", novalidate: true, onsubmit: send, "aria-label": "Sign in" }, heading, session && h("p", null,
        `Everything is still here${copy.unsentCount() ? `, also ${plural(copy.unsentCount(), "change")} that the server does not have yet` : ""}.`),
      email.element, password.element, device.element, problem, submit, other)),
  }
}
