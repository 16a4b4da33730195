// Which views there are besides the list and the editor.

import { devices, signin, transfer } from "./account.js"
import { attachments } from "./attachments.js"
import { banners, deleted, history, notices } from "./history.js"
import { indicator } from "./sync-panel.js"

/**
 * By the first word of the route.
 * @type {Record<string, Opener>}
 */
export const pages = { signin, deleted, devices, history, transfer }

/**
 * Inside of other views: over everything; over the text of a note, and under it; how sync stands.
 * @type {Record<string, Opener>}
 */
export const parts = { banners, notices, attachments, indicator }
