/** A page of the user's repositories by REST. It tells neither heads nor newest issues: those lists are asked for with their ETags, which is free while nothing changed. */
import { z } from 'zod'
import type { Discovered } from '../graphql/discovery.ts'
import { id, time } from './shapes.ts'

export const restRepository = z.object({
  id,
  node_id: z.string().min(1).max(200),
  name: z.string(),
  owner: z.object({ id, login: z.string() }),
  fork: z.boolean(),
  private: z.boolean(),
  archived: z.boolean().default(false),
  disabled: z.boolean().default(false),
  stargazers_count: z.int().min(0),
  language: z.string().nullish(),
  default_branch: z.string().nullish(),
  has_issues: z.boolean().default(true),
  has_pull_requests: z.boolean().default(true),
  created_at: time,
  updated_at: time,
  pushed_at: time.nullish(),
})

export function restDiscovered(seen: z.output<typeof restRepository>): Discovered {
  const row = {
    id: seen.id,
    nodeId: seen.node_id,
    ownerId: seen.owner.id,
    ownerLogin: seen.owner.login,
    name: seen.name,
    fork: seen.fork,
    private: seen.private,
    archived: seen.archived,
    disabled: seen.disabled,
    stars: seen.stargazers_count,
    language: seen.language ?? null,
    defaultBranch: seen.default_branch ?? null,
    head: null,
    hasIssues: seen.has_issues,
    hasPullRequests: seen.has_pull_requests,
    createdAt: seen.created_at,
    updatedAt: seen.updated_at,
    pushedAt: seen.pushed_at ?? null,
    newestIssueAt: null,
    newestPullAt: null,
  }
  return { row, headUnknown: true, sight: { head: null, issues: undefined, pulls: undefined } }
}
