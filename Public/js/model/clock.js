// Dates and hybrid logical clocks (merge.md, Clocks). Both are kept as text whose order is the order of time:
// a date is `2026-11-21T08:47:12.345Z`, a clock is a date, a counter of 4 hex digits and a node of 16 hex digits,
// `2026-11-21T08:47:12.345Z-0001-9f86d081884c7d65`.

const CLOCK = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)-([\da-f]{4})-([\da-f]{16})$/i
const DATE_LENGTH = 24
/** 9999-12-31T23:59:59.999Z in ms since 1970: a later date has more than 24 characters. */
const LAST_MOMENT = 253402300799999
const MAX_COUNTER = 0xffff

/**
 * The text of a moment. Moments after the year 9999 become its last one.
 *
 * @param {number} ms since 1970
 * @returns {string}
 */
export const formatDate = ms => new Date(Math.min(ms, LAST_MOMENT)).toISOString()

/**
 * The moment of a date, in ms since 1970.
 *
 * @param {string} text
 * @returns {number | null} null if `formatDate` does not produce this text
 */
export const parseDate = text => {
  const ms = Date.parse(text)
  // Date.parse reads 31 November as 1 December, so the text is compared with what it should be.
  return text.length === DATE_LENGTH && ms <= LAST_MOMENT && formatDate(ms) === text ? ms : null
}

/**
 * The text of a clock.
 *
 * @param {number} ms since 1970; negative values become 0
 * @param {number} counter 0 to 65535
 * @param {string} node 16 hex digits
 * @returns {string}
 */
export const makeClock = (ms, counter, node) =>
  `${formatDate(Math.max(0, ms))}-${counter.toString(16).padStart(4, "0")}-${node.toLowerCase()}`

/**
 * The parts of a clock.
 *
 * @param {string} clock
 * @returns {{milliseconds: number, counter: number, node: string}}
 * @throws {RangeError} if it is malformed
 */
export const partsOf = clock => {
  const [, date = "", counter, node] = CLOCK.exec(clock) ?? []
  const milliseconds = parseDate(date) ?? -1
  if (milliseconds < 0) throw new RangeError(`not a clock: ${clock}`)
  return {milliseconds, counter: parseInt(counter, 16), node: node.toLowerCase()}
}

/** The clock of one device. Its state, `saved`, is stored between sessions. */
export class ClockSource {
  /**
   * @param {string} node the device's ID, 16 hex digits
   * @param {SavedClock} [saved]
   */
  constructor(node, saved) {
    this.node = node
    this.saved = {greatest: "", agreed: "", offset: 0, ...saved}
  }

  /** The server's time in ms, as far as it is known: the wall clock, corrected by the offset. */
  now(wallMs) {
    return wallMs + this.saved.offset
  }

  /** A new clock, greater than all that were ticked or observed before. */
  tick(wallMs) {
    const {node, saved: {greatest}} = this
    let clock = makeClock(this.now(wallMs), 0, node)
    const isTimeAhead = clock.slice(0, DATE_LENGTH) > greatest.slice(0, DATE_LENGTH)
    if (!isTimeAhead) {
      // Time stands still or went back: the counter grows instead, and carries into the milliseconds when it is full.
      const {milliseconds, counter} = partsOf(greatest)
      const carries = counter === MAX_COUNTER && milliseconds < LAST_MOMENT
      clock = carries
        ? makeClock(milliseconds + 1, 0, node)
        : makeClock(milliseconds, Math.min(counter + 1, MAX_COUNTER), node)
    }
    this.saved.greatest = clock
    return clock
  }

  /** Takes note of a clock that the server accepted or sent: later ticks are greater. */
  observe(clock) {
    for (const name of ["agreed", "greatest"]) {
      if (clock > this.saved[name] && partsOf(clock)) this.saved[name] = clock
    }
  }

  /**
   * Corrects the offset between the wall clock and the server's clock. The server's clock was read between two moments, so the
   * offset has bounds. It is changed only if it is not between them, because the time that a response takes is not an error of
   * the wall clock.
   *
   * @param {string} serverClock
   * @param {number} receivedMs the wall clock when the server's clock arrived
   * @param {number} [sentMs] the wall clock when it was requested; none for an event
   */
  learn(serverClock, receivedMs, sentMs = -Infinity) {
    const {milliseconds} = partsOf(serverClock), least = milliseconds - receivedMs
    // The wall clock was set back during the request if it was sent after it was received.
    const greatest = Math.max(least, milliseconds - sentMs)
    this.saved.offset = Math.min(Math.max(this.saved.offset, least), greatest)
    this.observe(serverClock)
  }

  /** Forgets clocks that the server does not know, because it refused them (merge.md, Clock skew). */
  setBack() {
    this.saved.greatest = this.saved.agreed
  }
}
