// The account: signing in, again or for the first time, and signing up; its devices, its password, its end. Access tokens: tokens.js; webhooks: webhooks.js.
import {derivedID} from "../model/hash.js"
import {copyOf, copyText, dialog, fill, problemView, setError, toast, tryIn, viewOf, wordsOf} from "./dom.js"
import {chooseLanguage} from "./side.js"

/** Names of browsers and systems, by what their `User-Agent` contains. The first one that is found counts. */
const BROWSERS = {
  Edg: "Edge", OPR: "Opera", Firefox: "Firefox", FxiOS: "Firefox", Chrome: "Chrome", CriOS: "Chrome", Safari: "Safari",
}
const SYSTEMS = {
  Android: "Android", iPhone: "iPhone", iPad: "iPad", Windows: "Windows", Mac: "Mac", CrOS: "ChromeOS", Linux: "Linux",
}

/** A name for this device, such as "Firefox on Linux". It can be changed in the list of devices. */
const deviceName = () => {
  const [browser, system] = [BROWSERS, SYSTEMS].map(names =>
    names[Object.keys(names).find(name => navigator.userAgent.includes(name)) ?? ""])
  return wordsOf("device-name", {browser, system})
}

/** Creates the first note of a new account. Its ID follows from that of the account, so it cannot be created twice. */
const welcome = copy => copy.createNote({
  uniqueID: derivedID(copy.session.account.uniqueID, "welcome"), text: viewOf("welcome").textContent,
})

/** @type {Opener} */
export const signin = ({copy, engine, go, attempt}) => {
  const {session} = copy
  const unsent = copy.unsentCount()
  const invitation = new URLSearchParams(location.hash.split("?")[1]).get("invitation")
  let isOpen = true
  let isNew = invitation !== null && !session
  let isFirst = false // no account exists yet
  /** Replaced when the person switches forms: the answer to the other form is ignored. */
  let currentForm = {}

  const turn = () => {
    isNew = !isNew
    isFirst = false
    currentForm = {}
    submit.disabled = false
    fields.forEach(input => setError(input))
    fill(problem)
    layOut()
    email.focus()
  }
  const {element, form, problem, submit, show, email, password, forgot} = copyOf("signin", {
    session, unsent, isShared: location.hash === "#/capture", turn, turnBack: turn, language: chooseLanguage,
    email: {value: session?.account.email ?? "", readOnly: Boolean(session)},
    leave: () => dialog(viewOf("ask-erase", {unsent, erase: () => copy.erase(), exportFirst: () => go("#/transfer")})),
    show: () => {
      const isShown = password.type === "text"
      password.type = isShown ? "password" : "text"
      show.ariaPressed = !isShown
    },
  })
  const fields = [email, password]

  const layOut = () => {
    form.dataset.mode = session ? "again" : isNew ? isFirst ? "first" : "new" : isOpen || invitation ? "in" : "closed"
    password.pattern = isNew ? ".{8,}" : ".*"
    password.autocomplete = isNew ? "new-password" : "current-password"
  }
  const explain = error => {
    const {slug, pointer = ""} = error
    const at = fields.find(({id}) => pointer.toLowerCase().includes(id))
    if (slug === "unauthenticated") setError(password, password.dataset.unknown)
    else if (slug === "email-taken") fill(problem, viewOf("email-taken", {turn}))
    else if (at) setError(at, at.dataset[slug] ?? at.dataset.wrong)
    else fill(problem, problemView(error))
  }
  form.onsubmit = async event => {
    event.preventDefault()
    const wrong = form.querySelector(":invalid")
    if (wrong) setError(wrong, wrong.dataset.wrong)
    if (wrong || submit.disabled) return
    const credentials = {email: email.value.trim(), password: password.value, deviceName: deviceName()}
    const sentForm = currentForm
    fill(problem)
    submit.disabled = true
    try {
      await (isNew ? engine.signUp({...credentials, ...invitation && {invitation}}) : engine.signIn(credentials))
      if (isNew) attempt(welcome(copy))
      go(location.hash === "#/capture" ? "#/capture" : "#/")
    } catch (error) {
      if (sentForm !== currentForm) return
      submit.disabled = false
      explain(error)
    }
  }
  form.oninput = event => setError(event.target)
  layOut()
  engine.server().then(server => {
    isOpen = server.signUp === "open"
    if (server.needsFirstAccount && !session && !isNew) isNew = isFirst = true
    forgot.hidden = !server.features.includes("mail")
    layOut()
  }, () => {}) // Sending the form shows what is wrong.
  return {element, focus: () => (session ? password : email).focus()}
}

/** How many notes, tags and files there are. @type {(copy: Copy) => Record<string, number>} */
const countsOf = copy => ({
  notes: copy.notes({archived: null}).length,
  tags: copy.tags().length,
  files: [...copy.entities()].filter(({type}) => type === "attachment").length,
})

/** @type {Opener} */
export const devices = app => {
  const {copy, engine, go, attempt} = app
  const {session} = copy
  const {element, usage, change, remove, list, problem, tokens, webhooks, bookmarklet} = copyOf("devices", {
    ...session?.account, origin: location.origin, exportFirst: () => go("#/transfer"),
    // The link is for the bookmarks bar. Here the content security policy would block it.
    bookmarklet: event => {
      event.preventDefault()
      toast("drag-bookmarklet")
    },
    copyBookmarklet: () => copyText(bookmarklet.getAttribute("href")),
  })
  const leave = (how = {}) => engine.signOut(how).then(() => go("#/"), error => dialog(viewOf("ask-anyway",
    {problem: problemView(error), anyway: () => leave({anyway: true}), again: () => leave()})))
  const askToLeave = () => dialog(viewOf("ask-sign-out", {
    unsent: copy.unsentCount(), leave: () => leave(), exportFirst: () => go("#/transfer"),
    syncFirst: () => {
      engine.syncNow()
      toast("sending")
    },
  }))
  const askToSignOut = (leaving, whom) => dialog(viewOf("ask-sign-out-other", {whom, out: async () => {
    await attempt(Promise.all(leaving.map(({uniqueID}) => engine.signOutDevice(uniqueID)))
      .then(() => toast("signed-out", {whom})))
    load()
  }}))
  const askIfLost = ({uniqueID, name}) => {
    const {element, since} = copyOf("ask-lost", {whom: name, lost: async () => {
      const moment = since.value && {moment: new Date(since.value)}
      await attempt(engine.revoke(uniqueID, moment || {})
        .then(() => toast(moment ? "revoked" : "signed-out", {whom: name})))
      load()
    }})
    dialog(element)
  }
  const rename = ({uniqueID, name: before}) => {
    const {element, input} = copyOf("rename-device", {input: {value: before}, rename: async () => {
      const name = input.value.trim()
      if (!name || name === before) return
      await attempt(engine.renameDevice(uniqueID, name).then(() => toast("renamed", {name})))
      load()
    }})
    dialog(element)
    input.select()
  }
  const layOut = known => {
    const others = known.filter(({current}) => !current)
    fill(list, known.map(device => viewOf("device-row", {
      ...device, whom: device.current ? wordsOf("this-device") : device.name,
      rename: () => rename(device),
      out: device.current ? askToLeave : () => askToSignOut([device], device.name),
      lost: !device.current && (() => askIfLost(device)),
    })), others[1] && viewOf("other-devices", {out: () => askToSignOut(others, wordsOf("all-other-devices"))}))
  }
  let loadTokens = /** @type {any} */ (null)
  const showTokens = async () => {
    const {tokenSection} = await import("./tokens.js")
    loadTokens ??= tokenSection(app, tokens)
    loadTokens()
  }
  let loadWebhooks = /** @type {any} */ (null)
  const showWebhooks = async () => {
    const {webhookSection} = await import("./webhooks.js")
    loadWebhooks ??= webhookSection(app, webhooks)
    loadWebhooks()
  }
  const load = () => tryIn(problem, async () => {
    const [account, all, {features}] = await Promise.all([engine.account(), engine.devices(), engine.server()])
    fill(usage, viewOf("usage", {...account, ...countsOf(copy)}), features.includes("mail") && !account.emailVerificationDate
      && viewOf("verify", {verify: () => attempt(engine.verifyEmail().then(() => toast("letter-sent", account)))}))
    layOut(all)
    if (features.includes("access-tokens")) await showTokens()
    if (features.includes("webhooks")) await showWebhooks()
  })
  const submits = (form, send) => {
    form.onsubmit = async event => {
      event.preventDefault()
      form.inert = true
      await tryIn(form.lastElementChild, async () => {
        await send(Object.fromEntries(new FormData(form)))
        form.reset()
      })
      form.inert = false
    }
  }
  submits(change, async json => {
    await engine.changePassword({...json, signOutOthers: change.signOutOthers.checked})
    toast("password-changed")
    load()
  })
  submits(remove, json => engine.deleteAccount(json).then(() => go("#/")))
  layOut([{...session?.device, current: true}]) // until the server answers
  load()
  return {element}
}
