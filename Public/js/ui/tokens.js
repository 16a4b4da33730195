// Access tokens: a section of the account's page, loaded if the server has them.
import {copyOf, copyText, dialog, fill, firstOf, problemView, setError, toast, tryIn, viewOf, wordsOf} from "./dom.js"

const DAY = 86_400_000

/** What a token may do, in words. "write" includes the other scopes. */
const accessOf = scopes => {
  const name = scopes.includes("write") ? "write" : [...scopes].sort().join("-")
  return wordsOf(firstOf(`access-${name}`, "access-other"), {scopes: scopes.join(", ")})
}
const select = ({target}) => target.select()

/** @type {AccountSection} */
export const tokenSection = ({copy, engine, attempt, fail}, section) => {
  let shown = "" // the token that was just created

  const hide = () => {
    shown = ""
    fill(created)
    add.focus()
  }
  /** Shows a new token. The server does not return it again. */
  const show = token => {
    const {element, area} = copyOf("token-created",
      {...token, area: {onfocus: select, onclick: select}, copy: () => copyText(token.token), done: hide})
    shown = token.uniqueID
    fill(created, element)
    area.focus()
    element.scrollIntoView({block: "nearest"})
    load()
  }
  const askToRevoke = ({uniqueID, name}) => dialog(viewOf("ask-revoke", {name, revoke: async () => {
    await attempt(engine.revokeToken(uniqueID).then(() => {
      toast("token-revoked", {name})
      if (shown === uniqueID) hide()
    }))
    await load()
    if (!section.contains(document.activeElement)) add.focus() // The button of the row was removed.
  }}))

  const create = () => {
    const tags = copy.tags()
    const {element: form, problem, submit} = copyOf("new-token", {
      email: copy.session?.account.email, hasTags: tags.length, cancel: () => box.close(),
      tags: [{uniqueID: "", name: wordsOf("all-notes")}, ...tags].map(tag => viewOf("token-option", tag)),
    })
    const explain = error => {
      const {slug, pointer = ""} = error
      const at = form.elements.namedItem(pointer.slice(1))
      const words = at?.dataset?.[slug] ?? at?.dataset?.wrong
      words ? setError(at, words) : fill(problem, problemView(Object.assign(error, {name: "NewToken"})))
    }
    form.oninput = ({target}) => setError(target)
    form.onsubmit = async event => {
      event.preventDefault()
      const wrong = form.querySelector(":invalid")
      if (wrong) setError(wrong, wrong.dataset.wrong)
      if (wrong || submit.disabled) return
      const {name, scopes, tag, expiryDate: days, currentPassword} =
        /** @type {Record<string, any>} */ (Object.fromEntries(new FormData(form)))
      fill(problem)
      submit.disabled = true
      try {
        const token = await engine.createToken({
          name: name.trim(), scopes: scopes.split(" "), currentPassword, ...tag && {tag},
          ...days && {expiryDate: new Date(Date.now() + days * DAY).toISOString()},
        })
        box.close()
        show(token)
      } catch (error) {
        submit.disabled = false
        form.isConnected ? explain(error) : fail(error)
      }
    }
    const box = dialog(form)
  }
  const row = token => {
    const {scopes, tag, expiryDate} = token
    return viewOf("token-row", {
      ...token, access: accessOf(scopes), tagName: tag && copy.tag(tag)?.name,
      isExpired: expiryDate && Date.parse(expiryDate) <= Date.now(), revoke: () => askToRevoke(token),
    })
  }
  const load = () => tryIn(problem, async () => {
    const tokens = await engine.tokens()
    fill(list, tokens.map(row))
    return !tokens.length && viewOf("no-tokens")
  })
  const {element, add, created, list, problem} = copyOf("tokens", {add: create})
  fill(section, element)
  return load
}
