/**
 * Inspect: what people who operate the engine look at. Each list is a file beside this one; none costs more with a million jobs than with a
 * thousand.
 */
import type { Job } from '../job/job-store.ts'
import type { Lane } from '../lane/lanes.ts'
import type { Executor } from '../postgres/client.ts'
import type { Run } from '../run/runs.ts'
import type { Clock } from '../support/clock.ts'
import { type BulkAction, type BulkAnswer, type BulkOptions, type BulkParts, bulk } from './bulk.ts'
import { type DeadLetterGroup, listDeadLetters } from './dead-letters.ts'
import { type Health, readHealth } from './health.ts'
import { encodeFilter, encodeSearch, type JobFilter, type JobSearch } from './job-filter.ts'
import { listJobs } from './jobs.ts'
import { listKinds, type SeenKind } from './kinds.ts'
import { type LaneFilter, listLanes, listOwners, type SeenOwner } from './lanes.ts'
import { type Overview, readOverview } from './overview.ts'
import type { Listed, Page } from './page.ts'
import { listPools, type SeenPool } from './pools.ts'
import { findProgress, type RunProgress } from './run-progress.ts'
import { listTree, type TreeJob } from './run-tree.ts'
import { listRuns, type RunFilter } from './runs.ts'
import { findLeader, listWorkers, type SeenLeader, type SeenWorker } from './workers.ts'

export interface InspectParts {
  /** A database that is migrated: `looking` reads, with a time limit; itself writes. */
  readonly ready: () => Promise<Executor & { readonly looking: Executor }>
  readonly clock: Clock
  readonly onRequested: BulkParts['onRequested']
}

export class Inspect {
  readonly #on: () => Promise<Executor>
  readonly #parts: InspectParts

  constructor(parts: InspectParts) {
    this.#parts = parts
    this.#on = async () => (await parts.ready()).looking
  }

  /** Live and finished ones, newest first. A filter without an index of its own looks at the newest 5,000 for a page, and says so. */
  async jobs(filter: JobFilter = {}, page: Page = {}): Promise<Listed<Job>> {
    return listJobs(await this.#on(), encodeFilter(filter), page)
  }

  /** Jobs whose payload contains what is given. Looks through the newest 5,000 for a page and says how far it got. */
  async search(search: JobSearch, page: Page = {}): Promise<Listed<Job>> {
    return listJobs(await this.#on(), encodeSearch(search), page)
  }

  /** Failed jobs, grouped by what their errors have in common, the newest group first. Looks at the newest 10,000 and says so. */
  async deadLetters(page: Page = {}): Promise<Listed<DeadLetterGroup>> {
    return listDeadLetters(await this.#on(), page)
  }

  /** Retries, cancels or discards what the filter picks, in batches, up to `max`. */
  async bulk(action: BulkAction, filter: JobFilter, options: BulkOptions = {}): Promise<BulkAnswer> {
    const { ready, onRequested } = this.#parts
    const writing = await ready()
    return bulk({ looking: writing.looking, writing, onRequested }, action, filter, options)
  }

  async runs(filter: RunFilter = {}, page: Page = {}): Promise<Listed<Run>> {
    return listRuns(await this.#on(), filter, page)
  }

  /** Its jobs, live and finished, parents before their children. */
  async runTree(id: number, page: Page = {}): Promise<Listed<TreeJob>> {
    return listTree(await this.#on(), id, page)
  }

  /** How far it is, by kind and state, and when it will end if it goes on like this. */
  async runProgress(id: number): Promise<RunProgress | undefined> {
    return findProgress(await this.#on(), id)
  }

  async lanes(filter: LaneFilter = {}, page: Page = {}): Promise<Listed<Lane>> {
    return listLanes(await this.#on(), filter, page)
  }

  /** Those with limits of their own, and those with lanes. */
  async owners(page: Page = {}): Promise<Listed<SeenOwner>> {
    return listOwners(await this.#on(), page)
  }

  async pools(): Promise<SeenPool[]> {
    return listPools(await this.#on())
  }

  async kinds(): Promise<SeenKind[]> {
    return listKinds(await this.#on())
  }

  async workers(): Promise<SeenWorker[]> {
    return listWorkers(await this.#on())
  }

  async leader(): Promise<SeenLeader> {
    return findLeader(await this.#on())
  }

  /** The whole on one page, in bounded numbers. */
  async overview(): Promise<Overview> {
    return readOverview(await this.#on())
  }

  /** Facts about the server, the schema and what nobody looks after. */
  async health(): Promise<Health> {
    return readHealth(await this.#on(), this.#parts.clock)
  }
}
