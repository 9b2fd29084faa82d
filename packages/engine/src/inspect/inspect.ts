/**
 * Inspect: what people who operate the engine look at. Each list is a file beside this one; none costs more with a million jobs than with a
 * thousand.
 */
import type { Job } from '../job/job-store.ts'
import type { Lane } from '../lane/lanes.ts'
import type { Executor } from '../postgres/client.ts'
import type { Run } from '../run/runs.ts'
import { encodeFilter, encodeSearch, type JobFilter, type JobSearch } from './job-filter.ts'
import { listJobs } from './jobs.ts'
import { listKinds, type SeenKind } from './kinds.ts'
import { type LaneFilter, listLanes, listOwners, type SeenOwner } from './lanes.ts'
import type { Listed, Page } from './page.ts'
import { listRuns, type RunFilter } from './runs.ts'
import { findLeader, listWorkers, type SeenLeader, type SeenWorker } from './workers.ts'

export class Inspect {
  readonly #on: () => Promise<Executor>

  constructor(on: () => Promise<Executor>) {
    this.#on = on
  }

  /** Live and finished ones, newest first. A filter without an index of its own looks at the newest 5,000 for a page, and says so. */
  async jobs(filter: JobFilter = {}, page: Page = {}): Promise<Listed<Job>> {
    return listJobs(await this.#on(), encodeFilter(filter), page)
  }

  /** Jobs whose payload contains what is given. Looks through the newest 5,000 for a page and says how far it got. */
  async search(search: JobSearch, page: Page = {}): Promise<Listed<Job>> {
    return listJobs(await this.#on(), encodeSearch(search), page)
  }

  async runs(filter: RunFilter = {}, page: Page = {}): Promise<Listed<Run>> {
    return listRuns(await this.#on(), filter, page)
  }

  async lanes(filter: LaneFilter = {}, page: Page = {}): Promise<Listed<Lane>> {
    return listLanes(await this.#on(), filter, page)
  }

  /** Those with limits of their own, and those with lanes. */
  async owners(page: Page = {}): Promise<Listed<SeenOwner>> {
    return listOwners(await this.#on(), page)
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
}
