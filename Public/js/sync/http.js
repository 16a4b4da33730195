// Requests to the server, what went wrong with them, a log of the last ones, and the stream of events.
import {newID} from "../model/hash.js"

const LOGGED = 200
const TIMEOUT = 120_000 // ms, as the server has it (protocol.md, HTTP manners)
const SILENCE = 45_000 // ms without a sign of life: the stream is dead

/** What the server refuses (protocol.md, Errors); the slug "network" if no answer came. */
export class Problem extends Error {
  slug = "unexpected"
  title = ""
  detail = ""
  status = 0
  retryAfter = 0 // ms
  /** @type {string | null} */
  requestID = null

  /** @param {ProblemFields} fields */
  constructor(fields) {
    super(fields.detail || fields.title)
    Object.assign(this, fields)
  }
}

const refusal = ({status, headers}, requestID, says) => new Problem({
  // A proxy answers for a server that is away, in words of its own.
  slug: status > 501 && status < 505 ? "unavailable" : "unexpected", title: `The server answered ${status}`, ...says,
  status, requestID: headers.get("X-Request-ID") ?? requestID,
  retryAfter: Number(headers.get("Retry-After")) * 1000 || 0,
})

/** Speaks to the server that the page came from, with the session's cookie. */
export class Http {
  /** @type {LogEntry[]} */
  log = []

  /** @param {(entry: LogEntry) => void} told when a request is over */
  constructor(told) {
    this.told = told
  }

  /** @param {LogEntry} entry */
  remember(entry) {
    this.log.push(entry)
    if (this.log.length > LOGGED) this.log.shift()
  }

  /**
   * Whole: an answer that is cut off counts as none.
   * @param {string} method @param {string} path @param {Asking} asking @returns {Promise<Answer>}
   */
  async send(method, path, {json, body = json && JSON.stringify(json), headers = {}, signal, as} = {}) {
    const stop = new AbortController(), giveUp = () => stop.abort()
    const timer = setTimeout(giveUp, TIMEOUT)
    signal?.addEventListener("abort", giveUp)
    if (signal?.aborted) giveUp()
    if (json) headers = {"Content-Type": "application/json", ...headers}
    return this.#ask(path, {method, body, headers, signal: stop.signal}, async (answer, entry) => {
      const read = as === "blob" ? await answer.blob() : await answer.text()
      entry.bytes = read instanceof Blob ? read.size : read.length
      return {headers: answer.headers, value: typeof read === "string" && read ? JSON.parse(read) : read}
    }).finally(() => {
      clearTimeout(timer)
      signal?.removeEventListener("abort", giveUp)
    })
  }

  /**
   * Until the stream ends or `stop` is aborted. EventSource would show neither a status nor signs of life.
   * @param {string} since @param {AbortController} stop @returns {AsyncGenerator<ServerEvent>}
   */
  async* events(since, stop) {
    let timer = setTimeout(() => stop.abort(), SILENCE)
    try {
      const path = `/v1/events?since=${encodeURIComponent(since)}`
      const body = await this.#ask(path, {signal: stop.signal}, async answer => answer.body)
      const reader = body.pipeThrough(new TextDecoderStream()).getReader()
      for (let text = "", part; !(part = await reader.read()).done;) {
        clearTimeout(timer)
        timer = setTimeout(() => stop.abort(), SILENCE)
        text += part.value
        for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
          const lines = text.slice(0, end).split("\n").map(line => line.split(/: (.*)/s, 2))
          const {event, data = "null", retry = 0} = Object.fromEntries(lines)
          yield {name: event, data: JSON.parse(data), retry: Number(retry)}
        }
      }
    } finally {
      clearTimeout(timer)
      stop.abort()
    }
  }

  /** @param {string} path @param {RequestInit} init */
  async #ask(path, init, read) {
    const requestID = newID()
    /** @type {LogEntry} */
    const entry = {
      moment: Date.now(), method: init.method ?? "GET", path: path.replace(/\?.*/, ""), status: 0, requestID,
      milliseconds: 0, bytes: 0,
    }
    try {
      const answer = await fetch(path, {
        ...init, cache: "no-store", redirect: "error", headers: {"X-Request-ID": requestID, ...init.headers},
      })
      entry.status = answer.status
      if (!answer.ok) throw refusal(answer, requestID, await answer.json().catch(() => ({})))
      return await read(answer, entry)
    } catch (error) {
      const problem = error instanceof Problem ? error
        : new Problem({slug: "network", title: "The server cannot be reached", detail: String(error), requestID})
      entry.problem = problem.slug
      throw problem
    } finally {
      entry.milliseconds = Date.now() - entry.moment
      this.remember(entry)
      this.told(entry)
    }
  }
}
