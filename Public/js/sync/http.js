// Requests to the server: their problems, a log of the last ones, and its stream of events.
import {newID} from "../model/uuid.js"

/** How many requests the log keeps. */
export const LOG_LENGTH = 200
/** How long a request may take, in milliseconds: as long as the server waits for a body (protocol.md, HTTP manners). */
export const TIMEOUT = 120_000

/** A stream without a sign of life for so long is dead, in milliseconds: twice the server's 20 seconds, and a bit. */
const DEAD = 45_000

/**
 * One line of the log; `moment` is milliseconds since 1970, `bytes` is the length of the answer's body.
 * @typedef {{moment: number, method: string, path: string, status: number, requestID: string, milliseconds: number,
 *   bytes: number, problem?: string}} Entry
 */

/** What the server refuses, or what kept it from answering: slug "network", status 0 (protocol.md, Errors). */
export class Problem extends Error {
  /** @param {{slug: string, title: string, detail?: string, status?: number, requestID?: string | null,
   *   pointer?: string, retryAfter?: number | null, [name: string]: any}} says  `retryAfter` is in milliseconds */
  constructor(says) {
    super(says.detail || says.title)
    this.name = "Problem"
    this.slug = says.slug
    this.title = says.title
    this.detail = says.detail ?? ""
    this.status = says.status ?? 0
    this.requestID = says.requestID ?? null
    this.pointer = says.pointer
    this.retryAfter = says.retryAfter ?? null
    this.says = says
  }
}

/** @param {string | null} text  `Retry-After`: seconds, or a date @returns {number | null} milliseconds */
export function retryAfter(text) {
  if (!text) return null
  const seconds = Number(text)
  const wait = Number.isNaN(seconds) ? Date.parse(text) - Date.now() : seconds * 1000
  return Number.isNaN(wait) ? null : Math.max(0, wait)
}

/** @param {unknown} error @param {string} requestID @returns {Problem} */
function unreachable(error, requestID) {
  return new Problem({slug: "network", title: "The server cannot be reached", detail: String(error), requestID})
}

/** @param {Response} answer @param {string} text @param {string} requestID @returns {Problem} */
function refusal(answer, text, requestID) {
  const isProblem = answer.headers.get("Content-Type")?.startsWith("application/problem+json")
  /** @type {any} */
  let says = {}
  try {
    if (isProblem) says = JSON.parse(text)
  } catch {/* cut off: the status says enough */}
  // A proxy in front answers for a server that is away, in words of its own.
  const slug = answer.status >= 502 && answer.status <= 504 ? "unavailable" : "unexpected"
  return new Problem({
    slug, title: `The server answered ${answer.status}`, ...says, status: answer.status,
    requestID: answer.headers.get("X-Request-ID") ?? requestID, retryAfter: retryAfter(answer.headers.get("Retry-After"))
  })
}

/**
 * `value`: the JSON of the answer, or its Blob, as was asked for.
 * @typedef {{status: number, headers: Headers, value: any}} Answer
 */

/** Speaks to the server that this page came from, with the session's cookie. */
export class Http {
  /** @type {Entry[]} */
  log = []

  /** @param {(entry: Entry) => void} [told]  of every request when it is over */
  constructor(told = () => {}) {
    this.told = told
  }

  /** @param {Entry} entry */
  remember(entry) {
    this.log.push(entry)
    if (this.log.length > LOG_LENGTH) this.log.shift()
  }

  /**
   * One request, whole: an answer that is cut off counts as none.
   * @param {string} method @param {string} path
   * @param {{json?: any, body?: BodyInit, headers?: Record<string, string>, signal?: AbortSignal,
   *   as?: "json" | "blob" | "none", timeout?: number}} options
   * @returns {Promise<Answer>}
   */
  async send(method, path, {json, body, headers = {}, signal, as = "json", timeout = TIMEOUT} = {}) {
    const stop = new AbortController()
    const giveUp = () => stop.abort()
    const timer = setTimeout(giveUp, timeout)
    signal?.addEventListener("abort", giveUp)
    if (signal?.aborted) giveUp()
    if (json !== undefined) body = JSON.stringify(json)
    return this.#ask(method, path, {body, headers, signal: stop.signal}, async (answer, entry) => {
      const value = as === "blob" ? await answer.blob() : await answer.text()
      entry.bytes = value instanceof Blob ? value.size : value.length
      const isText = as === "json" && typeof value === "string" && value
      return {status: answer.status, headers: answer.headers, value: isText ? JSON.parse(value) : value}
    }).finally(() => {
      clearTimeout(timer)
      signal?.removeEventListener("abort", giveUp)
    })
  }

  /**
   * A stream, once its head is there. Whoever reads it ends it with the signal.
   * @param {string} path @param {AbortSignal} signal @returns {Promise<ReadableStream<Uint8Array>>}
   */
  stream(path, signal) {
    return this.#ask("GET", path, {signal}, async answer => /** @type {ReadableStream<Uint8Array>} */ (answer.body))
  }

  /**
   * @template T
   * @param {string} method @param {string} path @param {RequestInit} init
   * @param {(answer: Response, entry: Entry) => Promise<T>} read @returns {Promise<T>}
   */
  async #ask(method, path, init, read) {
    // A token in the query is nobody's business who is shown the log.
    const shown = path.replace(/\?.*/, "")
    /** @type {Entry} */
    const entry = {moment: Date.now(), method, path: shown, status: 0, requestID: newID(), milliseconds: 0, bytes: 0}
    const headers = new Headers(init.headers)
    headers.set("X-Request-ID", entry.requestID)
    if (typeof init.body === "string") headers.set("Content-Type", "application/json")
    try {
      const answer = await fetch(path, {
        ...init, method, headers, credentials: "same-origin", cache: "no-store", redirect: "error"
      })
      entry.status = answer.status
      if (!answer.ok) throw refusal(answer, await answer.text(), entry.requestID)
      return await read(answer, entry)
    } catch (error) {
      const problem = error instanceof Problem ? error : unreachable(error, entry.requestID)
      entry.problem = problem.slug
      throw problem
    } finally {
      entry.milliseconds = Date.now() - entry.moment
      this.remember(entry)
      this.told(entry)
    }
  }
}

/**
 * `retry`: how long to wait before coming back, in ms.
 * @typedef {{name: string, data: any, retry?: number}} ServerEvent
 */

/** @param {string} block  lines up to an empty one @returns {ServerEvent | null}  null for a sign of life */
export function readEvent(block) {
  /** @type {Object<string, string>} */
  const fields = {}
  for (const line of block.split("\n")) {
    const [, name, value] = /^([^:]*):? ?(.*)$/s.exec(line) ?? []
    if (name) fields[name] = value
  }
  if (!fields.event && !fields.retry) return null
  /** @type {ServerEvent} */
  const event = {name: fields.event ?? "", data: fields.data ? JSON.parse(fields.data) : null}
  if (fields.retry) event.retry = Number(fields.retry)
  return event
}

/**
 * Server-sent events since a token, until the stream ends or `stop` is aborted. Throws what the server refuses. Read with
 * fetch: EventSource shows neither a status nor signs of life (protocol.md, Events).
 * @param {Http} http @param {string} since  the token of a finished sync
 * @param {AbortController} stop
 * @returns {AsyncGenerator<ServerEvent, void, void>}
 */
export async function* eventsSince(http, since, stop) {
  let timer = setTimeout(() => stop.abort(), DEAD)
  try {
    const reader = (await http.stream(`/v1/events?since=${encodeURIComponent(since)}`, stop.signal)).getReader()
    const decoder = new TextDecoder()
    for (let text = ""; ;) {
      const part = await reader.read()
      clearTimeout(timer)
      if (part.done) return
      text += decoder.decode(part.value, {stream: true})
      for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
        const event = readEvent(text.slice(0, end))
        if (event) yield event
      }
      timer = setTimeout(() => stop.abort(), DEAD)
    }
  } finally {
    clearTimeout(timer)
    stop.abort()
  }
}
