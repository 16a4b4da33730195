// The tabs of one browser are one client: the tab with the Web Lock leads, the others hear of it.

const NAME = "hesper"

/**
 * Messages between tabs, and who of them leads. Without Web Locks (no secure context) every tab leads itself.
 * A leader that is hidden gives the lock up to one that is seen: the hidden one may be slowed down or put to sleep.
 */
export class Tabs {
  leads = false
  isVisible = true
  #channel = new BroadcastChannel("hesper-sync")
  /** @type {AbortController | null} */
  #leading = null
  #lead
  #hear

  /**
   * @param {(signal: AbortSignal) => Promise<void>} lead  ends soon after the signal, never before
   * @param {(message: any) => void} hear  what another tab said
   */
  constructor(lead, hear) {
    this.#lead = lead
    this.#hear = hear
  }

  /** Whether the tabs can share one connection. */
  static get areOne() {
    return Boolean(globalThis.navigator.locks)
  }

  /** Waits for its turn to lead, again and again, as long as the page lives. */
  async start() {
    this.#channel.onmessage = event => this.#take(event.data)
    this.say({kind: "hello"})
    if (!Tabs.areOne) return this.#begin()
    // Whoever waits already comes first when this tab asks again.
    for (;;) await navigator.locks.request(NAME, () => this.#begin())
  }

  /** @param {any} message  told to all other tabs */
  say(message) {
    this.#channel.postMessage(message)
  }

  /** @param {boolean} isVisible */
  visible(isVisible) {
    this.isVisible = isVisible
    if (!this.leads) {
      if (isVisible) this.say({kind: "seen"})
    } else if (!isVisible) this.say({kind: "who-is-seen"})
  }

  async #begin() {
    this.#leading = new AbortController()
    this.leads = true
    if (!this.isVisible) this.say({kind: "who-is-seen"})
    await this.#lead(this.#leading.signal)
    this.leads = false
  }

  /** @param {any} message */
  #take(message) {
    if (message.kind === "who-is-seen") {
      if (this.isVisible && !this.leads) this.say({kind: "seen"})
    } else if (message.kind === "seen") {
      if (this.leads && !this.isVisible && Tabs.areOne) this.#leading?.abort()
    } else this.#hear(message)
  }
}
