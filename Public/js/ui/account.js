// The account: signing in, again or for the first time, and signing up; its devices, its password, its end.
import {copyOf, dialog, fill, problemView, toast, tryIn, viewOf} from "./dom.js"

/** A name for this device, such as "Firefox on Linux". */
const deviceName = () => {
  const found = (...names) => names.find(name => navigator.userAgent.includes(name)) ?? "Browser"
  return `${found("Firefox", "Chrome", "Safari")} on ${found("Android", "iPhone", "iPad", "Windows", "Mac", "Linux")}`
}

/** @type {Opener} */
export const signin = ({copy, engine, go}) => {
  const {session} = copy
  const unsent = copy.unsentCount()
  const invitation = new URLSearchParams(location.hash.split("?")[1]).get("invitation")
  let isOpen = true
  let isNew = invitation !== null && !session
  /** Replaced when the person switches forms: the answer to the other form is ignored. */
  let currentForm = {}

  const turn = () => {
    isNew = !isNew
    currentForm = {}
    submit.disabled = false
    fields.forEach(input => setError(input))
    fill(problem)
    layOut()
    email.focus()
  }
  const {element, form, problem, submit, show, email, password, device, forgot} = copyOf("signin", {
    session, unsent, turn, turnBack: turn, device: {value: deviceName()},
    email: {value: session?.account.email ?? "", readOnly: Boolean(session)},
    leave: () => dialog(viewOf("ask-erase", {unsent, erase: () => copy.erase(), exportFirst: () => go("#/transfer")})),
    show: () => {
      const isShown = password.type === "text"
      password.type = isShown ? "password" : "text"
      show.ariaPressed = !isShown
    },
  })
  const fields = [email, password, device]

  const layOut = () => {
    form.dataset.mode = session ? "again" : isNew ? "new" : isOpen || invitation ? "in" : "closed"
    password.pattern = isNew ? ".{8,}" : ".*"
    password.autocomplete = isNew ? "new-password" : "current-password"
  }
  /** Shows an error at a field; without a text removes it. */
  const setError = (input, text = "") => {
    fill(input.parentElement.querySelector(".error"), text)
    input.ariaInvalid = text ? "true" : null
    if (text) input.focus()
  }
  const explain = error => {
    const {slug, pointer = "", detail} = error
    const at = fields.find(({id}) => pointer.toLowerCase().includes(id))
    if (slug === "unauthenticated") setError(password, password.dataset.unknown)
    else if (slug === "email-taken") fill(problem, viewOf("email-taken", {turn}))
    else if (at) setError(at, detail)
    else fill(problem, problemView(error))
  }
  form.onsubmit = async event => {
    event.preventDefault()
    const wrong = form.querySelector(":invalid")
    if (wrong) setError(wrong, wrong.dataset.wrong)
    if (wrong || submit.disabled) return
    const credentials = {email: email.value.trim(), password: password.value, deviceName: device.value.trim()}
    const sentForm = currentForm
    fill(problem)
    submit.disabled = true
    try {
      await (isNew ? engine.signUp({...credentials, ...invitation && {invitation}}) : engine.signIn(credentials))
      go("#/")
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
export const devices = ({copy, engine, go, attempt}) => {
  const {session} = copy
  const {element, usage, change, remove, list, problem} = copyOf("devices", {
    ...session?.account, exportFirst: () => go("#/transfer"),
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
  const layOut = known => {
    const others = known.filter(({current}) => !current)
    fill(list, known.map(device => viewOf("device-row", {
      ...device, whom: device.current ? "this device" : device.name,
      out: device.current ? askToLeave : () => askToSignOut([device], device.name),
      lost: !device.current && (() => askIfLost(device)),
    })), others[1] && viewOf("other-devices", {out: () => askToSignOut(others, "all other devices")}))
  }
  const load = () => tryIn(problem, async () => {
    const [account, all, {features}] = await Promise.all([engine.account(), engine.devices(), engine.server()])
    fill(usage, viewOf("usage", {...account, ...countsOf(copy)}), features.includes("mail") && !account.emailVerificationDate
      && viewOf("verify", {verify: () => attempt(engine.verifyEmail().then(() => toast("letter-sent", account)))}))
    layOut(all)
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
