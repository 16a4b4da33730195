// The sections of the account's page for access tokens and webhooks, which have secrets. The server returns a secret only once.
import {copyOf, copyText, dialog, fill, problemView, setError, toast, tryIn, viewOf, wordsOf} from "./dom.js"

const select = ({target}) => target.select()

/** @type {SecretSection} */
export const secretSection = ({copy, attempt, fail}, section, kind) => {
  let shown = "" // the ID of the one whose secret is displayed

  const hide = () => {
    shown = ""
    fill(created)
    add.focus()
  }
  const show = made => {
    const {element, area} = copyOf(kind.createdView, {
      ...made, name: kind.nameOf(made), area: {onfocus: select, onclick: select}, copy: () => copyText(kind.secretOf(made)),
      done: hide,
    })
    shown = made.uniqueID
    fill(created, element)
    area.focus()
    element.scrollIntoView({block: "nearest"})
    load()
  }

  const create = () => {
    const tags = copy.tags()
    const {element: form, problem, submit} = copyOf(kind.form, {
      email: copy.session?.account.email, hasTags: tags.length, cancel: () => box.close(),
      tags: [{uniqueID: "", name: wordsOf("all-notes")}, ...tags].map(tag => viewOf("token-option", tag)),
    })
    const explain = error => {
      const at = form.elements.namedItem((error.pointer ?? "").split("/")[1] ?? "")
      const words = at?.dataset?.[error.slug] ?? (at?.dataset?.detail && error.detail) ?? at?.dataset?.wrong
      words ? setError(at, words) : fill(problem, problemView(Object.assign(error, {name: kind.problem})))
    }
    form.oninput = ({target}) => setError(target)
    form.onsubmit = async event => {
      event.preventDefault()
      const data = new FormData(form)
      const wrong = form.querySelector(":invalid") ?? kind.wrongIn?.(form, data)
      if (wrong) setError(wrong, wrong.dataset.wrong)
      if (wrong || submit.disabled) return
      fill(problem)
      submit.disabled = true
      try {
        const made = await kind.create(data)
        box.close()
        show(made)
      } catch (error) {
        submit.disabled = false
        form.isConnected ? explain(error) : fail(error)
      }
    }
    const box = dialog(form)
  }

  const askToRemove = one => dialog(viewOf(kind.question, {name: kind.nameOf(one), remove: async () => {
    await attempt(kind.remove(one.uniqueID).then(() => {
      toast(kind.removed, {name: kind.nameOf(one)})
      if (shown === one.uniqueID) hide()
    }))
    await load()
    if (!section.contains(document.activeElement)) add.focus() // The button of the row was removed.
  }}))

  const load = () => tryIn(problem, async () => {
    const all = await kind.list()
    fill(list, all.map(kind.row))
    return !all.length && viewOf(kind.none)
  })
  const {element, add, created, list, problem} = copyOf(kind.view, {add: create})
  fill(section, element)
  return {load, askToRemove}
}
