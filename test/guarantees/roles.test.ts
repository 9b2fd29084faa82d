/**
 * The roles as separate processes on one database, as on several machines. Whichever is killed, `status` tells what is so, and work goes on where the
 * roles that are left can do it.
 */
import { expect } from 'vitest'
import { eventually } from '../support/database.ts'
import { type Said, type Started, test } from '../support/sluice.ts'

interface Status {
  readonly jobs: Record<string, { readonly count: number }>
  readonly processes: { readonly alive: number; readonly stopping: number; readonly lost: number }
  readonly leader: { readonly name?: string; readonly term: number }
  readonly workers: readonly { readonly name: string; readonly state: string; readonly leads: boolean; readonly pools: object }[]
  readonly concerns: readonly string[]
}

/** Longer than a busy machine keeps a process waiting: none of them may look lost that was not killed. */
const lease = ['--lease', '4s', '--json']

const named = (status: Status, role: string, state: string): number =>
  status.workers.filter((one) => one.name.startsWith(`${role} `) && one.state === state).length

test('[O-01] server, two workers and a scheduler share one database; whichever is killed, status tells the truth', async ({
  start,
  sluice,
}) => {
  const scheduler = start(['scheduler', ...lease])
  await scheduler.ready()
  const server = start(['server', '--port', '0', ...lease])
  const { address } = await server.ready()
  const workers = [start(['worker', ...lease]), start(['worker', ...lease])] as [Started, Started]
  await Promise.all(workers.map((one) => one.ready()))
  const status = async (): Promise<Status> => JSON.parse((await sluice(['status', '--json'])).out) as Status
  const until = (holds: (status: Status) => boolean): Promise<Status> =>
    eventually(async () => {
      const seen = await status()
      return holds(seen) && seen
    }, 60_000)
  const enqueue = async (payload: object): Promise<number> => {
    const answer = await fetch(`${address}/api/jobs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ kind: 'sluice.ping', payload }),
    })
    return ((await answer.json()) as { id: number }).id
  }
  const succeeded = (id: number): Promise<boolean> =>
    eventually(async () => {
      const { out }: Said = await sluice(['jobs', 'show', String(id), '--json'])
      return (JSON.parse(out) as { state: string }).state === 'succeeded'
    }, 60_000)

  const whole = await until(({ processes, leader }) => processes.alive === 4 && processes.lost === 0 && leader.name !== undefined)
  expect(whole.processes).toEqual({ alive: 4, stopping: 0, lost: 0 })
  expect(whole.leader.name).toMatch(/^scheduler /)
  expect(whole.concerns).toEqual([])
  expect(Object.keys(whole.workers.find(({ name }) => name.startsWith('server '))?.pools ?? { none: 1 })).toEqual([])
  await succeeded(await enqueue({}))

  // A worker dies with a job in its hands: the other one runs it.
  const held = await enqueue({ takeMs: 600_000 })
  const holder = await eventually(async () => {
    const { out } = await sluice(['jobs', 'show', String(held), '--json'])
    const { worker, state } = JSON.parse(out) as { worker: number | null; state: string }
    const { workers: all } = await status()
    const name = all.find((one) => (one as unknown as { id: number }).id === worker)?.name
    return state === 'running' && workers.find(({ pid }) => name?.endsWith(`:${pid}`))
  }, 60_000)
  holder.signal('SIGKILL')
  await holder.ended
  const oneLess = await until((seen) => named(seen, 'worker', 'alive') === 1 && seen.processes.lost === 0)
  expect(oneLess.processes.alive).toBe(3)
  await eventually(async () => {
    const { out } = await sluice(['jobs', 'show', String(held), '--json'])
    const { state, crashes } = JSON.parse(out) as { state: string; crashes: number }
    return state === 'running' && crashes === 1
  }, 60_000)
  expect((await sluice(['jobs', 'cancel', String(held)])).code).toBe(0)

  // Without a scheduler nobody leads, and status says so; what is ready is still run.
  scheduler.signal('SIGKILL')
  await scheduler.ended
  const leaderless = await until((seen) => seen.leader.name === undefined && named(seen, 'scheduler', 'lost') === 1)
  expect(leaderless.concerns[0]).toMatch(/^Nobody leads/)
  await succeeded(await enqueue({}))
  const again = start(['scheduler', ...lease])
  await again.ready()
  const led = await until((seen) => seen.leader.name !== undefined && seen.processes.lost === 0)
  expect(led.leader.term).toBeGreaterThan(whole.leader.term)

  // The server dies: commands and workers do not need it.
  server.signal('SIGKILL')
  await server.ended
  const headless = await until((seen) => named(seen, 'server', 'alive') === 0 && seen.processes.lost === 0)
  expect(headless.processes.alive).toBe(2)
  const { out } = await sluice(['jobs', 'enqueue', 'sluice.ping', '--json'])
  await succeeded((JSON.parse(out) as { id: number }).id)

  // The last worker dies: jobs wait, and status names the pool.
  const last = workers.find((one) => one !== holder) as Started
  last.signal('SIGKILL')
  await last.ended
  await sluice(['jobs', 'enqueue', 'sluice.ping'])
  // What a status is made of is read at once, not at the same instant: a lease may end in between.
  const idle = await until(
    (seen) => named(seen, 'worker', 'alive') === 0 && seen.concerns.some((one) => one.startsWith('Pool light')),
  )
  expect(idle.jobs['ready']?.count).toBe(1)
  expect(idle.concerns.join()).toContain('Pool light has ready jobs, and no process works for it.')
}, 240_000)
