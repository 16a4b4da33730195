// What is beside the notes: pages, the panel of sync, and banners.

import {exportAll, importFiles} from "../archive/archive.js"
import {difference, putIn} from "../model/text.js"
import {
  copyOf, copyText, dialog, fill, firstOf, follow, problemView, problemWords, save, tell, toast, tryIn, viewOf, wordsOf,
} from "./dom.js"

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
  let asking = {}

  const turn = () => {
    isNew = !isNew
    asking = {}
    submit.disabled = false
    fields.forEach(input => say(input))
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
  const say = (input, text = "") => {
    fill(input.parentElement.querySelector(".error"), text)
    input.ariaInvalid = text ? "true" : null
    if (text) input.focus()
  }
  const explain = error => {
    const {slug, pointer = "", detail} = error
    const at = fields.find(({id}) => pointer.toLowerCase().includes(id))
    if (slug === "unauthenticated") say(password, password.dataset.unknown)
    else if (slug === "email-taken") fill(problem, viewOf("email-taken", {turn}))
    else if (at) say(at, detail)
    else fill(problem, problemView(error))
  }
  form.onsubmit = async event => {
    event.preventDefault()
    const wrong = form.querySelector(":invalid")
    if (wrong) say(wrong, wrong.dataset.wrong)
    if (wrong || submit.disabled) return
    const what = {email: email.value.trim(), password: password.value, deviceName: device.value.trim()}
    const asked = asking
    fill(problem)
    submit.disabled = true
    try {
      await (isNew ? engine.signUp({...what, ...invitation && {invitation}}) : engine.signIn(what))
      go("#/")
    } catch (error) {
      if (asked !== asking) return
      submit.disabled = false
      explain(error)
    }
  }
  form.oninput = event => say(event.target)
  layOut()
  engine.server().then(server => {
    isOpen = server.signUp === "open"
    forgot.hidden = !server.features.includes("mail")
    layOut()
  }, () => {}) // Sending the form says what is wrong.
  return {element, focus: () => (session ? password : email).focus()}
}

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
      .then(() => toast("signed-out", {whom, areMany: leaving[1]})))
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
      ...device, whom: device.current ? "here" : device.name,
      out: device.current ? askToLeave : () => askToSignOut([device], device.name),
      lost: !device.current && (() => askIfLost(device)),
    })), others[1] && viewOf("other-devices", {out: () => askToSignOut(others, "all others")}))
  }
  const load = () => tryIn(problem, async () => {
    const [account, all, {features}] = await Promise.all([engine.account(), engine.devices(), engine.server()])
    fill(usage, viewOf("usage", account), features.includes("mail") && !account.emailVerificationDate
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
  layOut([{...session?.device, current: true}]) // until the server has said
  load()
  return {element}
}

const standingOf = ({copy, engine: {status}}) => {
  const {phase, toSend, held, toFetch, uploads, identical} = status
  const refused = copy.shelf().length
  const cases = {
    fetching: toFetch.objects, sending: toSend, uploading: uploads.count, syncing: phase === "syncing",
    refused, identical, synced: true,
  }
  const other = phase === "waiting" && held ? "full" : phase
  const kind = phase.startsWith("sync") ? Object.keys(cases).find(kind => cases[kind]) : other
  const {element, short, long} = copyOf(`is-${kind}`, {...status, refused})
  return {tone: element.dataset.tone, short: short.textContent, long: long.textContent}
}

/** @type {Indicator} */
export const indicate = (app, {sync, standing}) => follow(() => {
  const {tone, short, long} = standingOf(app)
  tell(standing, short)
  sync.dataset.tone = tone
  sync.title = long
  sync.ariaLabel = `Sync: ${short}`
}, [app.engine, "status"], [app.copy, "shelf"])

const line = entry => viewOf("request", {
  ...entry, time: new Date(entry.moment).toISOString().slice(11, 23), milliseconds: Math.round(entry.milliseconds),
})

/** @param {Shell} app */
export const openSync = app => {
  const {copy, engine} = app
  const {element, words, problem, shelf, facts, log} = copyOf("sync", {
    isSecure: engine.status.isSecure, sync: () => engine.syncNow(),
    copyLog: () => copyText(engine.requests().map(entry => line(entry).textContent).join("\n"), "log-copied"),
  })
  const say = () => {
    const {status} = engine
    const {phase, problem: trouble, nextTry, isPersistent} = status
    const entries = copy.shelf()
    const {tone, long} = standingOf(app)
    words.dataset.tone = tone
    tell(words, long)
    element.dataset.phase = phase
    tell(problem, [trouble, tone], () => trouble && tone !== "good" && problemView(trouble))
    tell(shelf, entries.map(({key}) => key), () => entries.map(entry => refusal(app, entry)))
    const seconds = Math.max(0, Math.ceil(((nextTry ?? 0) - Date.now()) / 1000))
    const known = viewOf("facts", {...status, seconds, isRisky: isPersistent === false})
    tell(facts, known.textContent, () => known)
    const requests = engine.requests()
    tell(log, requests, () => requests.map(line).reverse())
  }
  say()
  const timer = setInterval(say, 500)
  dialog(element).addEventListener("close", () => clearInterval(timer))
}

const nameOf = (copy, id) => copy.tag(id)?.name ?? copy.attachment(id)?.filename

const refusal = ({copy, attempt}, entry) => {
  const {uniqueID, attribute = "", value, problem: {status, slug}, key} = entry
  const [kind, id] = attribute.split(/\.(.*)/s)
  const note = copy.note(uniqueID)
  const isText = typeof value === "string"
  const isPassing = status >= 429 || slug === "attachment-in-use"
  const putAway = () => copy.takeOffShelf(key)
  const again = () => attempt((kind === "text" ? copy.write(uniqueID, value, {clock: note.textClock, value: note.text})
    : copy.setMember(uniqueID, kind, id, value)).then(putAway))
  return viewOf("refusal", {
    ...entry, whose: note?.title ?? nameOf(copy, uniqueID), what: nameOf(copy, id) ?? kind,
    why: problemWords(entry.problem), words: isText && value.slice(0, 160), putAway,
    open: note && (() => { location.hash = `#/note/${uniqueID}` }), keep: isText && (() => copyText(value)),
    again: isPassing && note && /^(text|attachments)$/.test(kind) && again,
  })
}

/** @type {Region} */
export const region = (look, ...events) => {
  const {element} = copyOf("region")
  return {element, stop: follow(() => {
    const found = look().filter(Boolean)
    tell(element, found, () => found.map(([id, values]) => viewOf(id, values)))
  }, ...events)}
}

export const news = viewOf("region")
/** @param {() => void} act */
export const offerUpdate = act => fill(news, viewOf("banner-new", {act}))

/** @type {Opener} */
export const banners = ({copy, engine}) => region(() => {
  const {phase, toSend, held, isPersistent, isSecure} = engine.status
  const isAtRisk = isPersistent === false && (phase === "offline" || phase === "waiting")
  return [
    copy.session && phase === "expired" && ["banner-expired"],
    held && ["banner-full", {held}],
    isAtRisk && toSend && ["banner-at-risk", {toSend}],
    !isSecure && !copy.settings.get("knowsInsecure")
      && ["banner-insecure", {dismiss: () => copy.settings.set("knowsInsecure", true)}],
    ...copy.notices().filter(({kind}) => kind !== "merged").map(({key, kind, into}) => {
      const dismiss = () => copy.dismiss(key)
      return [`banner-${kind}`, {into, title: copy.note(into)?.title || "a new note", open: dismiss, dismiss}]
    }),
  ]
}, [engine, "status"], [copy, "notice"], [copy, "session"], [copy, "settings"])

const AROUND = 80 // UTF-16 code units shown beside a difference
const MOMENT = 120_000 // ms; closer edits of one device are shown as one

const marked = (before, after) => difference(before, after).map(({kind, text}, index, all) => {
  if (kind !== "same") return viewOf(kind, {text})
  const head = index && AROUND
  const tail = text.length - (index < all.length - 1 ? AROUND : 0)
  return tail - head < 9 ? text : [text.slice(0, head), viewOf("left-out"), text.slice(tail)]
})

const putBack = ({copy, undoable}, id, text, said) => {
  const {textClock = null, text: value = ""} = copy.note(id) ?? {}
  const written = copy.write(id, text, {clock: textClock, value})
  return undoable(written, async () => copy.write(id, value, {clock: await written, value: text}), said)
}

/** @type {Opener} */
export const notices = (app, id) => {
  const {copy} = app
  // `mine`: as earlier versions kept it.
  const view = ({key, clock, mine, superseded = [{text: mine, location: 0, length: 0}]}) => {
    const {textClock, text = ""} = copy.note(id) ?? {}
    const dismiss = () => copy.dismiss(key)
    const undo = () => putBack(app, id, putIn(text, superseded), "words-back").then(dismiss)
    const words = superseded.map(one => one.text).join("\n")
    const isSame = textClock === clock
    return ["banner-merged", {key, words, isSame, undo, dismiss, copyWords: () => copyText(words)}]
  }
  return region(() => copy.notices().filter(({kind, uniqueID}) => kind === "merged" && uniqueID === id).map(view),
    [copy, "notice"], [copy, "change"])
}

const paged = (id, values, take) => {
  const {element, list, foot} = copyOf(id, values)
  const load = cursor => tryIn(foot, async () => {
    fill(foot, viewOf("asking"))
    const {nextCursor} = await take(list, cursor)
    return nextCursor ? viewOf("older", {older: () => load(nextCursor)}) : !list.firstChild && viewOf(`no-${id}`)
  })
  load(null)
  return {element}
}

const dateOf = ({clock}) => Date.parse(clock.slice(0, 24)) // merge.md, Clocks

const momentsOf = edits => {
  const moments = /** @type {any[]} */ ([])
  for (const edit of edits) {
    let last = moments.at(-1)
    const newer = last?.edits.at(-1)
    const isOther = newer?.device.uniqueID !== edit.device.uniqueID || dateOf(newer) - dateOf(edit) > MOMENT
    if (isOther) moments.push(last = {edits: []})
    last.edits.push(edit)
    if (edit.attribute === "text") last.text ??= edit
  }
  moments.reduceRight((before, moment) => (moment.before = before, moment.text?.value ?? before), "")
  return moments
}

/** @type {Opener} */
export const edits = (app, id) => {
  const {copy, engine} = app
  const known = []
  let server = "" // its node
  const editView = ({attribute, value}) => {
    const [name, member] = attribute.split(/\.(.*)/s)
    return viewOf(firstOf(`edit-${attribute}`, `edit-${name}`, "edit-other"),
      {value, subject: nameOf(copy, member), member, json: JSON.stringify(value)})
  }
  const momentView = ({edits, text, before}) => {
    const {uniqueID, name} = edits[0].device
    const isKept = text?.value !== undefined
    const back = () => putBack(app, id, text.value, "put-back").then(() => app.go(`#/note/${id}`))
    return viewOf("moment", {
      date: dateOf(edits[0]), name, isServer: uniqueID === server, isHere: uniqueID === copy.session?.device.uniqueID,
      isNow: text?.standing, isGone: text && !isKept, words: isKept && marked(before, text.value),
      back: isKept && !text.standing && back, rest: edits.filter(({attribute}) => attribute !== "text").map(editView),
    })
  }
  return paged("history", {id, title: copy.note(id)?.title}, async (list, cursor) => {
    server ||= (await engine.server()).serverClock.slice(-16)
    const page = await engine.history(id, cursor)
    known.push(...page.edits)
    fill(list, momentsOf(known).map(momentView))
    return page
  })
}

/** @type {Opener} */
export const deleted = ({engine, attempt}) => {
  const row = note => {
    const name = note.firstLine || "Without words"
    const back = async () => {
      open.href = `#/note/${await engine.putBack(note.uniqueID)}`
      act.remove()
      open.hidden = false
      open.focus()
      toast("back", {name})
    }
    const {element, act, open} = copyOf("deleted-note", {...note, name, act: () => attempt(back())})
    return element
  }
  return paged("recent", {}, async (list, cursor) => {
    const page = await engine.recentlyDeleted(cursor)
    list.append(...page.notes.map(row))
    return page
  })
}

const lineOf = ({path, reason}) => `${path}: ${wordsOf(`ArchiveError-${reason}`)}`

const take = async (copy, files, progress = () => {}) => {
  const {refused, ...counts} = await importFiles(copy, files, progress)
  return {text: wordsOf("imported", counts), lines: refused.map(lineOf)}
}

/** What is dropped beside a note is imported. @type {(app: Shell) => void} */
export const takeDrops = ({copy, attempt}) => {
  const drop = event => {
    const {dataTransfer, type} = event
    if (event.defaultPrevented || !dataTransfer.types.includes("Files")) return
    event.preventDefault()
    if (type === "drop" && copy.session) attempt(take(copy, [...dataTransfer.files])
      .then(({text, lines}) => toast("dropped", {text, lines: lines.join(" ")})))
  }
  addEventListener("dragover", drop)
  addEventListener("drop", drop)
}

/** @type {Opener} */
export const transfer = app => {
  const run = (place, work) => tryIn(place, async () => {
    const bar = viewOf("progress")
    fill(place, bar)
    const {text, lines} = await work((done, of) => Object.assign(bar, {max: of, value: done}))
    return viewOf("transferred", {text, count: lines.length, lines: lines.map(text => viewOf("line", {text}))})
  })
  const pack = () => run(packed, async progress => {
    const {blob, missing, ...report} = await exportAll(app.copy, {progress, bytesOf: id => app.engine.want(id)})
    save(blob, report.name)
    return {text: wordsOf("exported", report), lines: missing.map(path => lineOf({path, reason: "not-here"}))}
  })
  const takeFrom = ({target: input}) => {
    const chosen = [...input.files]
    input.value = ""
    run(taken, progress => take(app.copy, chosen, progress))
  }
  const {element, packed, taken} = copyOf("transfer", {pack, files: {onchange: takeFrom}, folder: {onchange: takeFrom}})
  return {element}
}
