// Webhooks: a section of the account's page, loaded if the server has them.
import {copyOf, dialog, fill, toast, tryIn, viewOf, wordsOf} from "./dom.js"
import {secretSection} from "./secrets.js"

/** What distinguishes webhooks in lists: their host and path. */
const nameOf = url => url.replace(/^https?:\/\//, "")

/** @type {AccountSection} */
export const webhookSection = (app, section) => {
  const {copy, engine, attempt} = app
  const change = (hook, how, message) => attempt(engine.changeWebhook(hook.uniqueID, how)
    .then(() => toast(message, {name: nameOf(hook.url)}))).then(load)

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

  const row = hook => {
    const {tag, events, paused, pauseReason: reason, nextAttemptDate} = hook
    return viewOf("webhook-row", {
      ...hook, name: nameOf(hook.url), tagName: tag && copy.tag(tag)?.name,
      what: events.map(each => wordsOf(`event-${each.replace(".", "-")}`)).join(", "),
      isFailing: !paused && nextAttemptDate,
      why: paused && viewOf(document.getElementById(`paused-${reason}`) ? `paused-${reason}` : "paused-owner"),
      log: () => showLog(hook), remove: () => askToRemove(hook),
      pause: !paused && (() => change(hook, {paused: true}, "webhook-paused")),
      resume: paused && (() => change(hook, {paused: false}, "webhook-resumed")),
    })
  }
  const {load, askToRemove} = secretSection(app, section, {
    view: "webhooks", none: "no-webhooks", form: "new-webhook", problem: "NewWebhook", createdView: "webhook-created",
    question: "ask-delete-webhook", removed: "webhook-deleted",
    row, list: () => engine.webhooks(), remove: id => engine.deleteWebhook(id), nameOf: ({url}) => nameOf(url),
    secretOf: ({secret}) => secret,
    wrongIn: (form, data) => data.getAll("events").length ? null : form.querySelector("[name=events]"),
    create: data => {
      const {url, tag} = /** @type {Record<string, any>} */ (Object.fromEntries(data))
      return engine.createWebhook({url: url.trim(), events: data.getAll("events"), ...tag && {tag}})
    },
  })
  return load
}
