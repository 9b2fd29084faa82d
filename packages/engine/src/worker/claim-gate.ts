/**
 * Claim gate: claims go through side by side, an audit only when none of them is under way.
 *
 * A claim whose answer got lost holds jobs that this process knows nothing of. The audit compares what the table says with what is held here
 * and hands the difference back, so it must never meet a claim half-way: stored, and not yet known. While one is due, claims wait for it, and
 * those that come together share it. The server may finish a claim that we gave up on after the audit has looked, so a lease later there is
 * another one.
 */
import type { Clock } from '../support/clock.ts'

export class ClaimGate {
  auditDue = false
  readonly #clock: Clock
  readonly #leaseMs: number
  readonly #audit: () => Promise<unknown>
  readonly #onClosed: () => void
  #secondLookMs = Number.POSITIVE_INFINITY
  #underWay = 0
  #claimed = false
  /** It is tried once between two heartbeats, because these wait for it. */
  #failed = false
  #auditing: Promise<boolean> | undefined
  #waiting: (() => void)[] = []

  constructor(clock: Clock, leaseMs: number, audit: () => Promise<unknown>, onClosed: () => void) {
    this.#clock = clock
    this.#leaseMs = leaseMs
    this.#audit = audit
    this.#onClosed = onClosed
  }

  get claiming(): boolean {
    return this.#underWay > 0
  }

  onBeat(): void {
    this.#failed = false
    if (this.#clock.monotonic() < this.#secondLookMs) return
    this.#secondLookMs = Number.POSITIVE_INFINITY
    this.auditDue = true
  }

  /**
   * Ends were given up. Unless somebody rescued these jobs, the table still says that they run here. What could not be stored although the lease holds waits for a lease:
   * handed back at once, it would be claimed and run again and again.
   */
  auditGivenUp(trusted: boolean): void {
    if (trusted) this.lookAgain()
    else this.auditDue = true
  }

  /** A lease later. */
  lookAgain(): void {
    this.#secondLookMs = Math.min(this.#secondLookMs, this.#clock.monotonic() + this.#leaseMs)
  }

  /** No audit is due or under way. */
  get isOpen(): boolean {
    return !this.auditDue && !this.#auditing
  }

  /** False: an audit is due and the server is still away; the next heartbeat looks again. */
  async open(): Promise<boolean> {
    if (this.isOpen) return true
    if (this.#failed && !this.#auditing) return false
    this.#auditing ??= this.#auditAlone().finally(() => {
      this.#auditing = undefined
    })
    return this.#auditing
  }

  get auditing(): boolean {
    return this.#auditing !== undefined
  }

  /** Resolves when no audit is under way. */
  async audited(): Promise<void> {
    while (this.#auditing) await this.#auditing
  }

  /** Claims may come that nobody here has sent. */
  mayHold(): void {
    this.#claimed = true
  }

  /** Makes a claim and lets `admit` take hold of it before an audit can come. */
  async pass<C, T>(claim: () => Promise<C>, admit: (claims: C) => T): Promise<T> {
    await this.audited()
    this.#underWay++
    this.#claimed = true
    try {
      return admit(await claim())
    } catch (error) {
      // Whether the claim took effect is unknown; the audit finds out.
      this.auditDue = true
      this.#secondLookMs = this.#clock.monotonic() + this.#leaseMs
      throw error
    } finally {
      this.#underWay--
      if (this.#underWay === 0) {
        for (const resolve of this.#waiting.splice(0)) resolve()
        this.#onClosed()
      }
    }
  }

  async #auditAlone(): Promise<boolean> {
    while (this.#underWay > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    // Whoever asks for one from here on gets another: this one may have looked before.
    this.auditDue = false
    // Whoever never claimed holds nothing, and need not walk through a long queue to find that out before its first job.
    if (!this.#claimed) return true
    try {
      await this.#audit()
      return true
    } catch {
      this.auditDue = true
      this.#failed = true
      return false
    }
  }
}
