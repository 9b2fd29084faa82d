/**
 * What GitHub does to those who keep knocking with bad credentials: after a number of refusals within a few minutes, the
 * account is refused altogether for a while, good tokens included.
 */
const spanMs = 300_000

export class LoginAttempts {
  readonly #max: number
  readonly #failures = new Map<string | number, number[]>()
  readonly #lockedUntil = new Map<string | number, number>()

  constructor(max: number) {
    this.#max = max
  }

  fail(who: string | number, now: number): void {
    const recent = (this.#failures.get(who) ?? []).filter((at) => at > now - spanMs)
    recent.push(now)
    this.#failures.set(who, recent)
    if (recent.length >= this.#max) this.#lockedUntil.set(who, now + spanMs)
  }

  isLocked(who: string | number, now: number): boolean {
    return (this.#lockedUntil.get(who) ?? 0) > now
  }

  forgive(who: string | number): void {
    this.#failures.delete(who)
    this.#lockedUntil.delete(who)
  }
}
