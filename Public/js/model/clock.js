// Hybrid logical clocks (merge.md, Clocks). A clock is its text, which sorts as its bytes do; a date likewise.

const CLOCK = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)-([\da-f]{4})-([\da-f]{16})$/i
const LAST = 253402300799999 // the end of the year 9999, where time stands still
const MOST = 0xffff

/** `2026-11-21T08:47:12.345Z`, from milliseconds since 1970. @param {number} ms */
export const formatDate = ms => new Date(Math.min(ms, LAST)).toISOString()

/** Milliseconds since 1970; null if `formatDate` would not write it so. @param {string} text */
export const parseDate = text => {
  const ms = text.length === 24 ? Date.parse(text) : NaN
  // Date.parse takes some days that are not there, such as 31 November, for others.
  return ms <= LAST && formatDate(ms) === text ? ms : null
}

/** @param {number} ms @param {number} counter @param {string} node 16 hex digits */
export const makeClock = (ms, counter, node) =>
  `${formatDate(Math.max(0, Math.trunc(ms)))}-${counter.toString(16).padStart(4, "0")}-${node.toLowerCase()}`

/** A RangeError if it is none. @param {string} clock */
export const partsOf = clock => {
  const [, date = "", counter, node] = CLOCK.exec(clock) ?? []
  const milliseconds = parseDate(date) ?? -1
  if (milliseconds < 0) throw new RangeError(`not a clock: ${clock}`)
  return {milliseconds, counter: parseInt(counter, 16), node: node.toLowerCase()}
}

/** The clock of one device. What it says is greater than all it said or saw before. */
export class ClockSource {
  #kept

  /** @param {string} node @param {SavedClock} [saved] */
  constructor(node, saved) {
    this.node = node
    this.#kept = {greatest: "", agreed: "", offset: 0, ...saved}
  }

  /** The wall clock, put right by the server's. @param {number} wallMs */
  now(wallMs) {
    return wallMs + this.#kept.offset
  }

  /** @param {number} wallMs @param {string} [node] another's to stamp with */
  tick(wallMs, node = this.node) {
    const {greatest} = this.#kept
    let made = makeClock(this.now(wallMs), 0, node)
    if (made.slice(0, 24) <= greatest.slice(0, 24)) {
      const {milliseconds, counter} = partsOf(greatest)
      const carries = counter === MOST && milliseconds < LAST
      made = carries ? makeClock(milliseconds + 1, 0, node) : makeClock(milliseconds, Math.min(counter + 1, MOST), node)
    }
    return this.#kept.greatest = made
  }

  /** Of every clock that the server accepted or sent. @param {string} clock */
  observe(clock) {
    // Taken in, nothing could be ticked after it any more.
    if (!CLOCK.test(clock)) throw new RangeError(`not a clock: ${clock}`)
    const kept = this.#kept
    if (clock > kept.agreed) kept.agreed = clock
    if (clock > kept.greatest) kept.greatest = clock
  }

  /** How far the wall clock is off. @param {string} serverClock @param {number} wallMs */
  learn(serverClock, wallMs) {
    this.#kept.offset = partsOf(serverClock).milliseconds - wallMs
    this.observe(serverClock)
  }

  /** Forgets what only this device said (merge.md, Ahead). */
  setBack() {
    this.#kept.greatest = this.#kept.agreed
  }

  saved() {
    return {...this.#kept}
  }
}
