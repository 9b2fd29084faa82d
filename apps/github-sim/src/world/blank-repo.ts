/** A repository that was just created: nothing in it, nobody else at it. */
import type { Repo } from './model.ts'
import { packNodeId } from './node-id.ts'

export const blankRepo = (id: number, ownerId: number, name: string, now: number): Repo => ({
  id,
  nodeId: packNodeId({ kind: 'R', id }),
  ownerId,
  name,
  private: false,
  fork: false,
  archived: false,
  stars: 0,
  description: null,
  language: null,
  createdAt: now,
  updatedAt: now,
  pushedAt: null,
  defaultBranch: 'main',
  head: null,
  hasIssues: true,
  hasPullRequests: true,
  blocked: null,
  guard: null,
  deleted: false,
  formerNames: [],
  collaboratorIds: [],
})
