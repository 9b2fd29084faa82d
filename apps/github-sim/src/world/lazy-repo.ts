/**
 * A generated repository. Its head and its node id are computed when somebody looks, because there may be hundreds of
 * thousands of repositories of which most are only listed.
 */
import type { Repo } from './model.ts'
import { packNodeId } from './node-id.ts'

export type RepoFacts = Omit<Repo, 'head' | 'nodeId' | 'blocked' | 'guard' | 'deleted' | 'formerNames' | 'collaboratorIds'>

const none: readonly never[] = []

export class LazyRepo implements Repo {
  readonly id: number
  ownerId: number
  name: string
  private: boolean
  readonly fork: boolean
  archived: boolean
  stars: number
  description: string | null
  readonly language: string | null
  readonly createdAt: number
  updatedAt: number
  pushedAt: number | null
  readonly defaultBranch: string
  hasIssues: boolean
  hasPullRequests: boolean
  blocked: Repo['blocked'] = null
  guard: Repo['guard'] = null
  deleted = false
  formerNames: Repo['formerNames'] = none
  collaboratorIds: readonly number[] = none
  #head: string | null | undefined
  readonly #firstHead: (repoId: number) => string | null

  constructor(facts: RepoFacts, firstHead: (repoId: number) => string | null) {
    this.id = facts.id
    this.ownerId = facts.ownerId
    this.name = facts.name
    this.private = facts.private
    this.fork = facts.fork
    this.archived = facts.archived
    this.stars = facts.stars
    this.description = facts.description
    this.language = facts.language
    this.createdAt = facts.createdAt
    this.updatedAt = facts.updatedAt
    this.pushedAt = facts.pushedAt
    this.defaultBranch = facts.defaultBranch
    this.hasIssues = facts.hasIssues
    this.hasPullRequests = facts.hasPullRequests
    this.#firstHead = firstHead
  }

  get nodeId(): string {
    return packNodeId({ kind: 'R', id: this.id })
  }

  get head(): string | null {
    if (this.#head === undefined) this.#head = this.#firstHead(this.id)
    return this.#head
  }

  set head(sha: string | null) {
    this.#head = sha
  }
}
