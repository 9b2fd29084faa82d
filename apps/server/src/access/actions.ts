/**
 * What can be done, and the role it takes: data, so that it can be read in one look. docs/access.md shows the same table, and a test keeps the two equal.
 *
 * Whoever reads sees everything but keys, the audit log and the names of secrets. Whoever operates decides what runs and when. An admin decides who may.
 */
import { type Caller, includes, type Role } from './caller.ts'
import { type Refusal, refuse } from './refusal.ts'

export const actions = {
  'overview.read': 'read',
  'jobs.read': 'read',
  'runs.read': 'read',
  'lanes.read': 'read',
  'owners.read': 'read',
  'pools.read': 'read',
  'kinds.read': 'read',
  'workers.read': 'read',
  'schedules.read': 'read',
  'events.read': 'read',
  'users.read': 'read',
  'exports.read': 'read',
  'collections.read': 'read',
  'statistics.read': 'read',
  'shadows.read': 'read',
  'strategy.read': 'read',
  'changes.watch': 'read',
  'metrics.read': 'read',
  'session.read': 'read',
  'session.end': 'read',

  'jobs.enqueue': 'operate',
  'jobs.retry': 'operate',
  'jobs.cancel': 'operate',
  'jobs.discard': 'operate',
  'jobs.bulk': 'operate',
  'runs.start': 'operate',
  'runs.cancel': 'operate',
  'runs.retry': 'operate',
  'lanes.set': 'operate',
  'lanes.hold': 'operate',
  'lanes.pause': 'operate',
  'lanes.resume': 'operate',
  'owners.pause': 'operate',
  'owners.resume': 'operate',
  'pools.pause': 'operate',
  'pools.resume': 'operate',
  'kinds.pause': 'operate',
  'kinds.resume': 'operate',
  'schedules.pause': 'operate',
  'schedules.resume': 'operate',
  'schedules.run': 'operate',
  'events.publish': 'operate',
  'collections.start': 'operate',
  'collections.cancel': 'operate',
  'collections.retry': 'operate',
  'collections.backfill': 'operate',
  'shadows.start': 'operate',
  'strategy.set': 'operate',

  'schedules.set': 'admin',
  'schedules.remove': 'admin',
  'users.add': 'admin',
  'users.rotate': 'admin',
  'users.remove': 'admin',
  'keys.read': 'admin',
  'keys.create': 'admin',
  'keys.revoke': 'admin',
  'audit.read': 'admin',
  'secrets.read': 'admin',
  'secrets.put': 'admin',
  'secrets.remove': 'admin',
  'secrets.rotate': 'admin',
} as const satisfies Record<string, Role>

export type Action = keyof typeof actions

export function requiredRole(action: Action): Role {
  return actions[action]
}

export function judgeRole(caller: Caller, action: Action): Refusal | undefined {
  const needed = requiredRole(action)
  if (includes(caller.role, needed)) return undefined
  return refuse('ROLE_TOO_LOW', {
    detail: `"${action}" takes the role ${needed}, and yours is ${caller.role}. Ask an admin for a key with that role.`,
  })
}
