/**
 * The secondary limits: too many requests at once, or too many points within a minute. GitHub does not say how much of them
 * is left, only that they were passed.
 */
export interface SecondaryOptions {
  readonly concurrent: number
  /** For REST; GraphQL has 2,000 points where REST has 900. */
  readonly pointsPerMinute: number
}

const minuteMs = 60_000
const graphqlShare = 2000 / 900

export class SecondaryLimits {
  readonly #options: SecondaryOptions
  readonly #minutes = new Map<string, { points: number; endsAt: number }>()

  constructor(options: SecondaryOptions) {
    this.#options = options
  }

  /** Milliseconds to wait, or nothing if the request may pass. */
  check(payer: number | string, api: 'rest' | 'graphql', inFlight: number, now: number): number | undefined {
    if (inFlight > this.#options.concurrent) return minuteMs
    const max = this.#options.pointsPerMinute * (api === 'graphql' ? graphqlShare : 1)
    if (max === Number.POSITIVE_INFINITY) return undefined
    const key = `${api} ${payer}`
    const known = this.#minutes.get(key)
    const minute = known && known.endsAt > now ? known : { points: 0, endsAt: now + minuteMs }
    this.#minutes.set(key, { ...minute, points: minute.points + 1 })
    return minute.points + 1 > max ? minute.endsAt - now : undefined
  }
}
