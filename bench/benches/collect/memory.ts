/**
 * Memory: the most that a worker ever held while it collected one very large repository. The worker is the command that people start.
 */
import type { Strategy } from '@sluice/collector'
import type { Ground } from '../../ground.ts'
import { prove } from '../../proof.ts'
import { unlimited } from './cold.ts'
import { setStage } from './stage.ts'

export async function memory(ground: Ground, strategy: Strategy, commits: number) {
  const person = { login: 'large', repositories: 1, commits, issues: 100, pullRequests: 100 }
  const stage = await setStage(ground, { strategy, sim: { seed: 10, people: [person], ...unlimited } })
  const user = await stage.register(person.login)
  const worker = await stage.command()
  const { seconds: collectSeconds } = await stage.collect([user])
  const [stored] = await stage.ask<{ commits: number }>(
    'select count(*)::int as commits from collector.commit where additions is not null and gone_at is null',
  )
  prove(stored?.commits === commits, `${commits} commits are stored with their line counts (${stored?.commits})`)
  const peakRssMb = await worker.stop()
  const { units, overBudget, sentWhileLimited, seconds } = await stage.strike()
  return { units, seconds, peakRssMb, commits, collectSeconds, overBudget, sentWhileLimited }
}
