// Requests to the server, and its stream of events.
import {randomID} from "../model/hash.js"

/** The maximum time without a byte of a response, in ms. A response may take longer, for example a large file over a slow network. */
const TIMEOUT = 120_000
/**
 * After this time without a byte, in ms, a stream of events counts as lost: the server sends something at least every 20 s
 * (protocol.md, Events).
 */
const SILENCE = 45_000

/** @type {any} `AbortSignal.any` is newer than the types */
const signals = AbortSignal

/** Calls `expire` when `restart` was not called for a time, in ms, until `end` is called. */
const watch = (time, expire) => {
  let timer
  const restart = () => {
    clearTimeout(timer)
    timer = setTimeout(expire, time)
  }
  restart()
  return {restart, end: () => clearTimeout(timer)}
}

/**
 * What went wrong with a request: a problem of the server (protocol.md, Errors), or "network", "unexpected" and others of this
 * app. index.html has texts for some slugs; for others the server's `title` and `detail` are shown.
 */
export class Problem extends Error {
  slug = "unexpected"
  detail = ""

  /** @param {ProblemFields} fields */
  constructor(fields) {
    super(fields.detail || fields.title)
    Object.assign(this, fields)
  }
}

/**
 * What a person is told of an error.
 *
 * @type {(error: any) => Trouble}
 */
export const troubleOf = ({slug = "unexpected", title = "", message = "", detail = message, requestID = null}) =>
  ({slug, title, detail, requestID})

/** The problem of an answer that is an error. `body` is its JSON; a proxy may send none. */
const problemOf = ({status, headers}, requestID, body) => new Problem({
  // 502 to 504 come from a proxy that does not reach the server.
  slug: status > 501 && status < 505 ? "unavailable" : "unexpected",
  title: `The server answered ${status}`,
  ...body,
  status,
  requestID: headers.get("X-Request-ID") ?? requestID,
  retryAfter: Number(headers.get("Retry-After")) * 1000 || 0,
})

/** Requests to the server that the page came from, each with an ID of its own and a line in the log. */
export class Http {
  /** @param {(entry: LogEntry) => void} log called after each request */
  constructor(log) {
    this.log = log
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {Asking} how
   * @returns {Promise<Answer>}
   * @throws {Problem}
   */
  send(method, path, {json, body = json && JSON.stringify(json), headers, signal, as = "text"} = {}) {
    const stop = new AbortController()
    const {restart, end} = watch(TIMEOUT, () => stop.abort())
    const init = {
      method,
      body,
      headers: {...json && {"Content-Type": "application/json"}, ...headers},
      signal: signals.any([stop.signal, ...signal ? [signal] : []]),
    }
    return this.#ask(path, init, async (answer, entry) => {
      const watched = new TransformStream({
        transform: (part, to) => {
          restart()
          to.enqueue(part)
        },
      })
      /** @type {any} */
      const value = await new Response(answer.body?.pipeThrough(watched), {headers: answer.headers})[as]()
      entry.bytes = value.size ?? value.length
      return {headers: answer.headers, value: as === "text" && value ? JSON.parse(value) : value}
    }).finally(end)
  }

  /**
   * The stream of events (protocol.md, Events), until it ends or breaks off.
   *
   * @param {string} since a sync token
   * @param {AbortController} stop ends it; is aborted when it has ended
   * @returns {AsyncGenerator<ServerEvent>}
   */
  async* events(since, stop) {
    const {restart, end} = watch(SILENCE, () => stop.abort())
    try {
      const path = `/v1/events?since=${encodeURIComponent(since)}`
      const body = await this.#ask(path, {signal: stop.signal}, answer => answer.body)
      const reader = body.pipeThrough(new TextDecoderStream()).getReader()
      for (let text = "", part; !(part = await reader.read()).done;) {
        restart()
        text += part.value
        // An empty line ends an event.
        for (let at; (at = text.indexOf("\n\n")) >= 0; text = text.slice(at + 2)) {
          const lines = text.slice(0, at).split("\n").map(line => line.split(/: (.*)/s, 2))
          const {event, data = "null", retry = 0} = Object.fromEntries(lines)
          yield {name: event, data: JSON.parse(data), retry: Number(retry)}
        }
      }
    } finally {
      end()
      stop.abort()
    }
  }

  /** One request; `read` reads the body of its answer. */
  async #ask(path, init, read) {
    const requestID = randomID()
    const moment = Date.now()
    const {method = "GET"} = init
    /** @type {LogEntry} */
    const entry = {moment, method, path: path.split("?")[0], status: 0, requestID, milliseconds: 0, bytes: 0}
    try {
      const answer = await fetch(path, {
        ...init, cache: "no-store", redirect: "error", headers: {"X-Request-ID": requestID, ...init.headers},
      })
      entry.status = answer.status
      if (!answer.ok) throw problemOf(answer, requestID, await answer.json().catch(() => ({})))
      return await read(answer, entry)
    } catch (error) {
      const isProblem = error instanceof Problem
      const problem = isProblem ? error : new Problem({slug: "network", detail: String(error), requestID})
      entry.problem = problem.slug
      throw problem
    } finally {
      entry.milliseconds = Date.now() - moment
      this.log(entry)
    }
  }
}
