// Hybrid logical clocks (merge.md, Clocks). A clock is its text, which sorts as its bytes do; a date likewise.

/** @typedef {{greatest: string, agreed: string, offset: number}} SavedClock `offset` in ms; a clock is "" at first */

const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const CLOCK = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z-[0-9a-f]{4}-[0-9a-f]{16}$/i
const NODE = /^[0-9a-f]{16}$/i
/** The last millisecond of the year 9999, where time stands still. */
const LAST = 253402300799999
const MOST = 0xffff

/**
 * A moment as text in UTC: `2026-11-21T08:47:12.345Z`. Milliseconds since 1970, before the year 10000.
 * @param {number} ms
 */
export const formatDate = ms => new Date(Math.min(ms, LAST)).toISOString()

/**
 * Milliseconds since 1970 of a date as `formatDate` writes it; null if it is none.
 * @param {string} text
 * @returns {number | null}
 */
export const parseDate = text => {
  const ms = DATE.test(text) ? Date.parse(text) : NaN
  // Date.parse takes some days that are not there, such as 31 November, for others.
  return ms <= LAST && new Date(ms).toISOString() === text ? ms : null
}

/**
 * Whether `text` is a node: 16 hex digits.
 * @param {string} text
 */
export const isNode = text => NODE.test(text)

/**
 * A clock as text. Milliseconds 0 to the end of 9999, counter 0 to 65535.
 * @param {number} ms
 * @param {number} counter
 * @param {string} node
 */
export const makeClock = (ms, counter, node) =>
  `${formatDate(Math.max(0, Math.trunc(ms)))}-${counter.toString(16).padStart(4, "0")}-${node.toLowerCase()}`

/**
 * Whether `text` is a clock.
 * @param {string} text
 */
export const isClock = text => CLOCK.test(text) && (parseDate(text.slice(0, 24)) ?? -1) >= 0

/**
 * The parts of a clock; a malformed one is a RangeError.
 * @param {string} clock
 */
export const partsOf = clock => {
  if (!isClock(clock)) throw new RangeError(`not a clock: ${clock}`)
  const [milliseconds, counter] = [Date.parse(clock.slice(0, 24)), parseInt(clock.slice(25, 29), 16)]
  return {milliseconds, counter, node: clock.slice(30).toLowerCase()}
}

/** The clock of one device. What it says is greater than all it said or saw before. */
export class ClockSource {
  /** 16 hex digits: the device's uniqueID. */
  node
  #greatest
  #agreed
  #offset

  /**
   * @param {string} node
   * @param {SavedClock} [saved] what `saved()` gave
   */
  constructor(node, saved) {
    this.node = node
    this.#greatest = saved?.greatest ?? ""
    this.#agreed = saved?.agreed ?? ""
    this.#offset = saved?.offset ?? 0
  }

  /**
   * The wall clock put right by what was learned from the server's, in milliseconds.
   * @param {number} wallMs
   */
  now(wallMs) {
    return wallMs + this.#offset
  }

  /**
   * A clock greater than every clock ticked or seen.
   * @param {number} wallMs milliseconds
   * @param {string} [node] another's node to stamp with
   */
  tick(wallMs, node = this.node) {
    let made = makeClock(this.now(wallMs), 0, node)
    if (made.slice(0, 24) <= this.#greatest.slice(0, 24)) {
      const {milliseconds, counter} = partsOf(this.#greatest)
      // A counter that would overflow carries into the milliseconds.
      if (counter < MOST) made = makeClock(milliseconds, counter + 1, node)
      else made = milliseconds < LAST ? makeClock(milliseconds + 1, 0, node) : makeClock(LAST, MOST, node)
    }
    return this.#greatest = made
  }

  /**
   * Makes the next tick greater than a clock that the server accepted or sent. A malformed one is a RangeError.
   * @param {string} clock
   */
  observe(clock) {
    // Taken in, nothing could be ticked after it any more.
    if (!CLOCK.test(clock)) throw new RangeError(`not a clock: ${clock}`)
    if (clock > this.#agreed) this.#agreed = clock
    if (clock > this.#greatest) this.#greatest = clock
  }

  /**
   * Learns from the server's clock, which every answer of sync has, how far the wall clock is off.
   * @param {string} serverClock
   * @param {number} wallMs
   */
  learn(serverClock, wallMs) {
    this.#offset = partsOf(serverClock).milliseconds - wallMs
    this.observe(serverClock)
  }

  /** Forgets what only this device said: back to the greatest that the server accepted or sent (merge.md, Ahead). */
  setBack() {
    this.#greatest = this.#agreed
  }

  /**
   * What to keep, for the constructor.
   * @returns {SavedClock}
   */
  saved() {
    return {greatest: this.#greatest, agreed: this.#agreed, offset: this.#offset}
  }
}
