// The account and its devices: what it holds, who is signed in, and signing out, here or elsewhere.

import { button, byteText, fill, h, longDate, plural } from "./dom.js"
import { ago, ask, problemView } from "./problems.js"

/** @typedef {{uniqueID: string, name: string, creationDate?: string, lastUseDate?: string, current: boolean}} Device */

/** @type {import("./shell.js").Opener} */
export const devices = app => {
  const { copy, engine, go, toast } = app
  const { session } = copy
  const usage = h("div", { class: "muted" })
  const list = h("ul", { class: "rows" })
  const problem = h("div")
  /**
   * Signing out here has to be possible without the server's list.
   * @type {Device[]}
   */
  let known = session ? [{ ...session.device, current: true }] : []

  const here = () => {
    const unsent = copy.unsentCount()
    /** @type {(how: {anyway?: boolean}) => Promise<void>} */
    const leave = how => engine.signOut(how).then(() => go("#/"), (/** @type {any} */ error) => ask(app, "Not signed out yet", problemView(error),
      "Erase the notes here all the same", () => leave({ anyway: true }), ["Try again", () => leave(how)]))
    /** @type {[string, () => any][]} */
    const ways = [["Export", () => go("#/transfer")], ["Sync first", () => {
      engine.syncNow()
      toast("Sending. Sign out when all is sent.")
    }]]
    ask(app, "Sign out here?", [h("p", null, "The notes in this browser are erased. They stay on the server and on your other devices."),
      unsent > 0 && h("p", { class: "danger-text" }, `${plural(unsent, "change")} made here did not reach the server yet, and would be lost.`)],
    unsent ? "Lose them and sign out" : "Sign out", () => leave({}), ...unsent ? ways : [])
  }
  /** @param {Device[]} leaving */
  const others = leaving => ask(app, `Sign out ${leaving.length > 1 ? "all other devices" : leaving[0].name}?`,
    h("p", null, "It keeps the notes that it has, and can sign in again with the password."), "Sign out", () => app.attempt(signOut(leaving)))
  /** @param {Device[]} leaving */
  const signOut = async leaving => {
    for (const device of leaving) {
      await engine.signOutDevice(device.uniqueID)
      known = known.filter(one => one !== device)
      layOut()
    }
    toast(leaving.length > 1 ? "All others are signed out" : `${leaving[0].name} is signed out`)
  }
  const layOut = () => {
    const away = known.filter(({ current }) => !current)
    fill(list, known.map(device => h("li", { class: "row" }, h("div", { class: "row-main" },
      h("p", { class: "row-title" }, device.name, device.current && h("span", { class: "chip" }, "this device")),
      device.lastUseDate && h("p", { class: "muted small", title: longDate(device.lastUseDate) },
        `${device.current ? "In use now" : `Last used ${ago(device.lastUseDate)}`} · signed in ${ago(device.creationDate ?? "")}`)),
    device.current ? button("Sign out here", { icon: "sign-out", onclick: here })
      : button("Sign out", { "aria-label": `Sign out ${device.name}`, onclick: () => others([device]) }))),
    away.length > 1 && h("li", { class: "row" }, button("Sign out all others", { onclick: () => others(away) })))
  }
  const load = async () => {
    fill(problem)
    try {
      const [{ usage: { objects, bytes, attachmentBytes }, quota }, all] = await Promise.all([engine.account(), engine.devices()])
      known = all
      fill(usage, `${plural(objects, "object")}, ${byteText(bytes)}. Pictures and files: ${byteText(attachmentBytes)}`,
        quota && [` of ${byteText(quota)}`, h("progress", { max: quota, value: attachmentBytes, "aria-label": "Room taken" })])
    } catch (error) {
      fill(problem, problemView(error, load))
    }
    layOut()
  }
  layOut()
  load()
  return {
    title: "Account and devices",
    element: h("div", null, h("section", { class: "section" }, h("h2", null, "Account"), h("p", null, session?.account.email), usage),
      h("section", { class: "section" }, h("h2", null, "Devices"), list, problem)),
  }
}
