// Access tokens: a section of the account's page, loaded if the server has them.
import {firstOf, viewOf, wordsOf} from "./dom.js"
import {secretSection} from "./secrets.js"

const DAY = 86_400_000

/** What a token may do, in words. "write" includes the other scopes. */
const accessOf = scopes => {
  const name = scopes.includes("write") ? "write" : [...scopes].sort().join("-")
  return wordsOf(firstOf(`access-${name}`, "access-other"), {scopes: scopes.join(", ")})
}

/** @type {AccountSection} */
export const tokenSection = (app, section) => {
  const {copy, engine} = app
  const row = token => {
    const {scopes, tag, expiryDate} = token
    return viewOf("token-row", {
      ...token, access: accessOf(scopes), tagName: tag && copy.tag(tag)?.name,
      isExpired: expiryDate && Date.parse(expiryDate) <= Date.now(), revoke: () => askToRemove(token),
    })
  }
  const {load, askToRemove} = secretSection(app, section, {
    view: "tokens", none: "no-tokens", form: "new-token", problem: "NewToken", createdView: "token-created",
    question: "ask-revoke", removed: "token-revoked",
    row, list: () => engine.tokens(), remove: id => engine.revokeToken(id), nameOf: ({name}) => name, secretOf: ({token}) => token,
    create: data => {
      const {name, scopes, tag, expiryDate: days, currentPassword} =
        /** @type {Record<string, any>} */ (Object.fromEntries(data))
      return engine.createToken({
        name: name.trim(), scopes: scopes.split(" "), currentPassword, ...tag && {tag},
        ...days && {expiryDate: new Date(Date.now() + days * DAY).toISOString()},
      })
    },
  })
  return load
}
