// Webhooks: a section of the account's page, loaded if the server has them.
import {copyOf, copyText, dialog, fill, problemView, setError, toast, tryIn, viewOf, wordsOf} from "./dom.js"

const select = ({target}) => target.select()
/** What distinguishes webhooks in lists: their host and path. */
const nameOf = url => url.replace(/^https?:\/\//, "")

/** @type {AccountSection} */
export const webhookSection = ({copy, engine, attempt, fail}, section) => {
  let shown = "" // the webhook whose secret is displayed

  const hide = () => {
    shown = ""
    fill(created)
    add.focus()
  }
  /** Shows the secret of a new webhook. The server does not return it again. */
  const show = hook => {
    const {element, area} = copyOf("webhook-created", {
      ...hook, name: nameOf(hook.url), area: {onfocus: select, onclick: select}, copy: () => copyText(hook.secret), done: hide,
    })
    shown = hook.uniqueID
    fill(created, element)
    area.focus()
    element.scrollIntoView({block: "nearest"})
    load()
  }
  const change = (hook, how, message) => attempt(engine.changeWebhook(hook.uniqueID, how)
    .then(() => toast(message, {name: nameOf(hook.url)}))).then(load)
  const askToDelete = ({uniqueID, url}) => dialog(viewOf("ask-delete-webhook", {name: nameOf(url), remove: async () => {
    await attempt(engine.deleteWebhook(uniqueID).then(() => {
      toast("webhook-deleted", {name: nameOf(url)})
      if (shown === uniqueID) hide()
    }))
    await load()
    if (!section.contains(document.activeElement)) add.focus() // The button of the row was removed.
  }}))

  const showLog = hook => {
    const {element, list, problem, test} = copyOf("webhook-log", {
      name: nameOf(hook.url), test: () => send(test, () => engine.testWebhook(hook.uniqueID)),
    })
    /** Sends something, and shows the outcome in the log. */
    const send = (button, sending) => tryIn(problem, async () => {
      button.disabled = true
      try {
        await sending()
      } finally {
        button.disabled = false
      }
      return read()
    })
    const row = delivery => {
      const {element, again} = copyOf("delivery-row", {
        ...delivery, what: wordsOf(`event-${delivery.type.replace(".", "-")}`), again: async () => {
          await send(again, () => engine.replayDelivery(hook.uniqueID, delivery.uniqueID))
          list.querySelector(`[data-id="${delivery.uniqueID}"]`)?.focus()
        },
      })
      again.dataset.id = delivery.uniqueID
      return element
    }
    const read = async () => {
      const deliveries = await engine.deliveries(hook.uniqueID)
      fill(list, deliveries.map(row))
      return !deliveries.length && viewOf("no-deliveries")
    }
    dialog(element).addEventListener("close", load)
    tryIn(problem, read)
  }

  const create = () => {
    const tags = copy.tags()
    const {element: form, problem, submit} = copyOf("new-webhook", {
      hasTags: tags.length, cancel: () => box.close(),
      tags: [{uniqueID: "", name: wordsOf("all-notes")}, ...tags].map(tag => viewOf("token-option", tag)),
    })
    const explain = error => {
      const at = form.elements.namedItem((error.pointer ?? "").split("/")[1] ?? "")
      const words = at?.dataset?.[error.slug] ?? (at?.dataset?.detail && error.detail) ?? at?.dataset?.wrong
      words ? setError(at, words) : fill(problem, problemView(Object.assign(error, {name: "NewWebhook"})))
    }
    form.oninput = ({target}) => setError(target)
    form.onsubmit = async event => {
      event.preventDefault()
      const data = new FormData(form)
      const events = data.getAll("events")
      const {url, tag} = /** @type {Record<string, any>} */ (Object.fromEntries(data))
      const wrong = form.querySelector(":invalid") ?? (events.length ? null : form.querySelector("[name=events]"))
      if (wrong) setError(wrong, wrong.dataset.wrong)
      if (wrong || submit.disabled) return
      fill(problem)
      submit.disabled = true
      try {
        const hook = await engine.createWebhook({url: url.trim(), events, ...tag && {tag}})
        box.close()
        show(hook)
      } catch (error) {
        submit.disabled = false
        form.isConnected ? explain(error) : fail(error)
      }
    }
    const box = dialog(form)
  }

  const row = hook => {
    const {tag, events, paused, pauseReason: reason, nextAttemptDate} = hook
    return viewOf("webhook-row", {
      ...hook, name: nameOf(hook.url), tagName: tag && copy.tag(tag)?.name,
      what: events.map(each => wordsOf(`event-${each.replace(".", "-")}`)).join(", "),
      isFailing: !paused && nextAttemptDate,
      why: paused && viewOf(document.getElementById(`paused-${reason}`) ? `paused-${reason}` : "paused-owner"),
      log: () => showLog(hook), remove: () => askToDelete(hook),
      pause: !paused && (() => change(hook, {paused: true}, "webhook-paused")),
      resume: paused && (() => change(hook, {paused: false}, "webhook-resumed")),
    })
  }
  const load = () => tryIn(problem, async () => {
    const hooks = await engine.webhooks()
    fill(list, hooks.map(row))
    return !hooks.length && viewOf("no-webhooks")
  })
  const {element, add, created, list, problem} = copyOf("webhooks", {add: create})
  fill(section, element)
  return load
}
