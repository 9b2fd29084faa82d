/**
 * The story: five people are collected while a process is killed, another one stopped, a repository renamed and a token revoked. When all are done, GitHub
 * changes a little, and they are collected once more, for next to nothing.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { GithubSim } from '@sluice/github-sim'
import type { Clerk } from './clerk.ts'
import type { Crew } from './crew.ts'
import { jobs, number } from './ink.ts'
import { people } from './people.ts'
import type { Stage } from './stage.ts'

export interface Cast {
  readonly crew: Crew
  readonly clerk: Clerk
  readonly sim: GithubSim
  readonly stage: Stage
  readonly signal: AbortSignal
}

const limitMs = 240_000
const busyMsMax = 4_000
const revoked = 'cedar'
const renamed = 'acorn'

export async function tellStory(cast: Cast): Promise<void> {
  const { crew, clerk, sim, stage } = cast
  await until(cast, () => crew.leader !== undefined && crew.members.every(({ condition }) => condition === 'working'))
  const ids = new Map<string, number>()
  await Promise.all(
    people.map(async ({ login }) => {
      ids.set(login, await clerk.register(login, sim.tokenOf(login)))
      stage.admit(login, ids.get(login) ?? 0)
    }),
  )
  stage.say(`registered over the API: ${people.map(({ login }) => login).join(', ')}`)
  await Promise.all([killAndStop(cast), rename(cast), revokeAndRotate(cast, ids.get(revoked) ?? 0)])
  await until(cast, () => stage.areDone(1))
  const { units } = sim.oracle.summary()
  stage.say(`everybody is collected: ${number(units)} units of quota`, 'good')
  await collectAgain(cast, [...ids.values()], units)
}

async function killAndStop({ crew, stage, ...cast }: Cast): Promise<void> {
  const all = { crew, stage, ...cast }
  await until(all, () => stage.shareOf(renamed) > 0.15)
  const killed = crew.leader ?? 1
  const lost = await whenBusy(all, killed)
  crew.kill(killed)
  stage.say(`up ${killed}, which leads, is killed with kill -9 while it holds ${jobs(lost)}`, 'bad')
  await until(all, () => crew.leader !== undefined)
  const stopped = crew.members.find(({ number: one, leads }) => one !== killed && !leads)?.number ?? 1
  const held = await whenBusy(all, stopped)
  stage.say(`up ${stopped} is asked to stop (SIGTERM) while it holds ${jobs(held)}`)
  await crew.stop(stopped)
}

async function rename({ sim, stage, ...cast }: Cast): Promise<void> {
  await until({ sim, stage, ...cast }, () => stage.shareOf(renamed) > 0.4)
  const account = sim.world.byLogin(renamed)
  const [repo] = account ? sim.world.reposOf(account.id, ['OWNER']) : []
  if (!repo) return
  const before = repo.name
  sim.churn.rename(repo.id)
  stage.say(`${renamed} renames ${before} to ${repo.name}; walks go by id`)
}

async function revokeAndRotate({ sim, stage, clerk, ...cast }: Cast, user: number): Promise<void> {
  const all = { sim, stage, clerk, ...cast }
  await until(all, () => stage.shareOf(revoked) > 0.3)
  sim.chaos.revoke(revoked)
  stage.say(`${revoked} revokes its token`, 'bad')
  await until(all, () => stage.isRefused(revoked))
  stage.say(`${revoked}'s token is refused: its work pauses, the others go on`, 'warn')
  await delay(2_500, undefined, { signal: all.signal })
  await clerk.rotate(user, sim.chaos.reinstate(revoked, `ghp_${'demo'.repeat(9)}`))
  stage.say(`${revoked} gets a new token and goes on where it stopped`, 'good')
}

async function collectAgain(cast: Cast, ids: readonly number[], before: number): Promise<void> {
  const { sim, clerk, stage } = cast
  sim.churn.step({ share: 0.2 })
  stage.say('an hour of pushes, merges and closed issues; all are collected again')
  for (const id of ids) await clerk.collect(id)
  await until(cast, () => stage.areDone(2))
  stage.say(`only what changed was read: ${number(sim.oracle.summary().units - before)} units of quota`, 'good')
  await stage.refresh()
  stage.say(`scores: ${stage.scores}`)
}

/** The moment at which a process holds a few jobs, so that there is something to lose; but the story goes on in any case. */
async function whenBusy({ stage, signal }: Cast, member: number): Promise<number> {
  for (const endMs = stage.elapsedMs + busyMsMax; ; ) {
    const held = await stage.heldBy(member)
    if (held >= 2 || stage.elapsedMs > endMs) return held
    await delay(20, undefined, { signal })
  }
}

async function until({ stage, signal }: Cast, holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) {
    if (stage.elapsedMs > limitMs) throw new Error(`the demo does not come to its end: ${String(holds)}`)
    await delay(100, undefined, { signal })
  }
}
