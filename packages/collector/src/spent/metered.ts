/**
 * A kind whose calls to GitHub are counted for its run. The count is written in the transaction that ends the job; where there is none, because the job is
 * tried again or fails, it is written at once.
 */
import { type AnyKind, type Outcome, onClient } from '@sluice/engine'
import type { Answer, Github } from '@sluice/github'
import type { Services } from '../walk/workshop.ts'
import { addSpent, type Resource, type Spent } from './spent.ts'

export function metered(kind: AnyKind): AnyKind {
  const run: AnyKind['run'] = async (job, services: Services): Promise<Outcome | void> => {
    const forRun = (job.payload as { run?: number }).run
    if (forRun === undefined) return kind.run(job, services)
    const { collector } = services
    const meter = new Meter(collector.github)
    let outcome: Outcome | void
    try {
      outcome = await kind.run(job, { ...services, collector: collector.through(meter) })
    } catch (error) {
      await addSpent(collector.engine, forRun, meter.spent)
      throw error
    }
    if (meter.spent.length === 0) return outcome
    if (outcome?.type !== 'done') {
      await addSpent(collector.engine, forRun, meter.spent)
      return outcome
    }
    const { write } = outcome
    return {
      ...outcome,
      write: async (tx) => {
        await write?.(tx)
        await addSpent(onClient(tx), forRun, meter.spent)
      },
    }
  }
  return Object.assign((...args: Parameters<AnyKind>) => kind(...args), kind, { run })
}

/** A GitHub that remembers what it cost. */
class Meter implements Github {
  readonly #github: Github
  readonly #spent = new Map<Resource, Spent>()

  constructor(github: Github) {
    this.#github = github
  }

  get spent(): readonly Spent[] {
    return [...this.#spent.values()]
  }

  get baseUrl(): string {
    return this.#github.baseUrl
  }

  async rest<T>(call: Parameters<Github['rest']>[0]): Promise<Answer<T>> {
    return this.#count('core', await this.#github.rest<T>(call))
  }

  async graphql<T>(call: Parameters<Github['graphql']>[0]): Promise<Answer<T>> {
    return this.#count('graphql', await this.#github.graphql<T>(call))
  }

  #count<T>(resource: Resource, answer: Answer<T>): Answer<T> {
    const { calls = 0, units = 0 } = this.#spent.get(resource) ?? {}
    this.#spent.set(resource, { resource, calls: calls + 1, units: units + answer.cost })
    return answer
  }
}
