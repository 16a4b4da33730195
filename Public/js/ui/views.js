// Which views there are besides the list and the editor, by the names that the shell asks for.

import { attachments } from "./attachments.js"
import { devices } from "./devices.js"
import { deleted, history } from "./history.js"
import { banners, notices } from "./notices.js"
import { signin } from "./signin.js"
import { indicator } from "./sync-panel.js"
import { transfer } from "./transfer.js"

/** @typedef {import("./shell.js").Opener} Opener */

/**
 * Views of their own, by the first word of the route: "signin", "deleted", "devices", "transfer" (import and export), "history" (the ID of a note).
 * @type {Object<string, Opener>}
 */
export const pages = { signin, deleted, devices, history, transfer }

/**
 * Parts inside of other views, left out while missing:
 * - "banners": over everything (sign in again, not stored for good, no secure context, a new version).
 * - "notices": over the text of the note with this ID (a merge replaced words of yours, words were rescued).
 * - "attachments": under the text of the note with this ID; takes paste and drop for the editor (`View.take`).
 * - "indicator": how sync stands in two words; it opens to all that there is to know of it.
 * @type {Object<string, Opener>}
 */
export const parts = { banners, notices, attachments, indicator }
