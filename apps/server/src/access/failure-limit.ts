/**
 * A limit on wrong keys: so many from one address, and so many in all, within a window of time. Past it, keys are refused unread until the window ends.
 *
 * Nobody guesses a key; the limit keeps those who try from costing us a query and a line of the audit log each. It must not keep out those who are right: behind a
 * proxy everybody has one address, and a stranger can fill any count. So a key that was right a moment ago is read however many others were wrong.
 *
 * Memory is bounded: the oldest windows and the longest unseen keys are forgotten first. Addresses of IPv6 count by their network (/64), of which one person has
 * as many addresses as they like. It is kept by each process for itself.
 */
import { isIPv6 } from 'node:net'
import type { Clock } from '@sluice/engine'

export interface FailureLimits {
  readonly windowMs: number
  readonly perAddressMax: number
  readonly overallMax: number
  readonly addressesMax: number
  readonly trustedMax: number
}

const failureLimits: FailureLimits = {
  windowMs: 300_000,
  perAddressMax: 10,
  overallMax: 300,
  addressesMax: 10_000,
  trustedMax: 1_000,
}

interface Window {
  failures: number
  readonly endsAtMs: number
}

export class FailureLimit {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #limits: FailureLimits
  /** All windows are of one length, so the order in which they were added is the order in which they end. */
  readonly #windows = new Map<string, Window>()
  /** Hashes of what was right, the longest unused first. */
  readonly #trusted = new Set<string>()
  #overall: Window = { failures: 0, endsAtMs: 0 }

  constructor(clock: Pick<Clock, 'monotonic'>, limits: FailureLimits = failureLimits) {
    this.#clock = clock
    this.#limits = limits
  }

  /** How long this caller has to wait, if at all. */
  waitSeconds(address: string | undefined, proof: string): number | undefined {
    if (this.#trusted.has(proof)) return undefined
    const { perAddressMax, overallMax } = this.#limits
    const own = this.#windows.get(networkOf(address))
    const waits = [this.#left(own, perAddressMax), this.#left(this.#overall, overallMax)].filter((left) => left > 0)
    return waits.length === 0 ? undefined : Math.ceil(Math.max(...waits) / 1_000)
  }

  /** Answers whether the limit is reached by it. */
  failed(address: string | undefined, proof: string): boolean {
    this.#trusted.delete(proof)
    const { perAddressMax, overallMax } = this.#limits
    const own = this.#windowOf(networkOf(address))
    if (this.#overall.endsAtMs <= this.#clock.monotonic()) this.#overall = this.#newWindow()
    own.failures++
    this.#overall.failures++
    return own.failures === perAddressMax || this.#overall.failures === overallMax
  }

  succeeded(proof: string): void {
    this.#trusted.delete(proof)
    this.#trusted.add(proof)
    forgetOldest(this.#trusted, this.#limits.trustedMax)
  }

  #left(window: Window | undefined, failuresMax: number): number {
    return window && window.failures >= failuresMax ? window.endsAtMs - this.#clock.monotonic() : 0
  }

  #windowOf(network: string): Window {
    const found = this.#windows.get(network)
    if (found && found.endsAtMs > this.#clock.monotonic()) return found
    const window = this.#newWindow()
    this.#windows.delete(network)
    this.#windows.set(network, window)
    forgetOldest(this.#windows, this.#limits.addressesMax)
    return window
  }

  #newWindow(): Window {
    return { failures: 0, endsAtMs: this.#clock.monotonic() + this.#limits.windowMs }
  }
}

function forgetOldest(kept: Map<string, unknown> | Set<string>, max: number): void {
  for (const key of kept.keys()) {
    if (kept.size <= max) return
    kept.delete(key)
  }
}

/** An address of IPv4, or the first half of one of IPv6. */
export function networkOf(address: string | undefined): string {
  const plain = address?.replace(/%.*$/, '').toLowerCase() ?? 'unknown'
  const mapped = /^::ffff:(?<four>\d+\.\d+\.\d+\.\d+)$/.exec(plain)?.groups?.['four']
  if (mapped) return mapped
  if (!isIPv6(plain)) return plain
  const [head = '', tail] = plain.split('::')
  const left = head.split(':').filter((group) => group !== '')
  const right = tail?.split(':').filter((group) => group !== '') ?? []
  const groups =
    tail === undefined ? left : [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right]
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}
