/** Every answer that is no data, and how the job ends that got it. */
import type { JobContext, Outcome } from '@sluice/engine'
import { runHandler } from '@sluice/engine/testing'
import type { Answer, Github } from '@sluice/github'
import { expect } from 'vitest'
import { type Collecting, test } from '../../../../test/support/collecting.ts'
import { commitStatistics } from './commit-statistics.ts'
import { profile } from './profile.ts'
import { Workshop } from './workshop.ts'

const now = Date.now()
const soon = new Date(now + 60_000)
const heard = { status: 200, budget: undefined, cost: 1, servedAt: new Date(now), pollIntervalMs: undefined }
type Said = Answer<unknown> extends infer A ? Omit<A, keyof typeof heard> : never

function workshop({ engine, sim }: Collecting, said: Said, baseUrl = sim.url): Workshop {
  const answer = async () => ({ ...heard, ...said }) as never
  const made = new Workshop({ baseUrl, rest: answer, graphql: answer } as Github, {
    strategy: 'graphql',
    affiliations: ['OWNER'],
    overlapMs: 0,
    spreadMs: 0,
    keepDays: 30,
    watch: { errorRate: 0.05, times: 2, slackMs: 0, runs: 3 },
    now: () => now,
  })
  made.bind(engine)
  return made
}

async function ask(scene: Collecting, said: Said, context: Partial<JobContext<never>> = {}): Promise<Outcome> {
  const given = { services: { collector: workshop(scene, said) }, context: { owner: String(scene.userId), run: 1, ...context } }
  return runHandler(commitStatistics, { collection: 1, run: 1, id: 7, sha: 'abc' }, given as never)
}

const table: [name: string, said: object, outcome: object][] = [
  ['primary limit', { resetAt: soon }, { type: 'snooze', until: soon }],
  ['secondary limit', { retryAt: soon }, { type: 'snooze', until: soon }],
  ['primary limit', { resetAt: new Date(now - 5_000) }, { type: 'snooze', until: new Date(now + 1_000) }],
  ['gone', {}, { type: 'done', next: [{ kind: 'github.verify-repository', payload: { id: 7 } }] }],
  ['moved', { to: 'http://there/1', repositoryId: 7 }, { type: 'done', next: [{ payload: { id: 7, link: 'http://there/1' } }] }],
  ['empty', {}, { type: 'done', write: expect.any(Function) }],
  ['blocked', { reason: 'dmca' }, { type: 'done', write: expect.any(Function) }],
  ['forbidden', { kind: 'sso', message: 'no' }, { type: 'done', write: expect.any(Function) }],
  ['forbidden', { kind: 'other', message: 'no' }, { type: 'retry' }],
  ['disabled', { what: 'issues' }, { type: 'done' }],
  ['computing', {}, { type: 'retry', afterMs: 10_000 }],
  ['server trouble', { message: 'bad', retryAfterMs: 5_000 }, { type: 'retry', afterMs: 5_000 }],
  ['too heavy', { message: 'too much' }, { type: 'retry' }],
  ['malformed', { message: 'cut off' }, { type: 'retry' }],
  ['invalid', { message: 'wrong', deepPage: false }, { type: 'fail' }],
  ['ok', { data: { stats: 'none' }, errors: [] }, { type: 'retry' }],
]

test('[C-08] each answer that is no data ends the job in its own way', async ({ collecting }) => {
  const scene = await collecting({ start: false })
  for (const [type, more, outcome] of table)
    expect(await ask(scene, { type, ...more } as never), `${type} ${JSON.stringify(more)}`).toMatchObject(outcome)
})

test('[C-08] what is left of the budget and what the call did not use are told to the lane', async ({ collecting }) => {
  const scene = await collecting({ start: false })
  const reports: unknown[] = []
  const budget = { resource: 'core', limit: 5_000, remaining: 12, resetAt: soon }
  await ask(scene, { type: 'gone', budget, cost: 0 } as never, { report: (said) => void reports.push(said) })
  expect(reports).toEqual([{ remaining: 12, limit: 5_000, resetAt: soon, refund: 1 }])
})

test('[C-08] after the first refusal of a token nothing is sent with it from this process, though its jobs were claimed before', async ({
  collecting,
}) => {
  const scene = await collecting({ start: false })
  let sent = 0
  const refusing = workshop(scene, { type: 'unauthorized', message: 'Bad credentials' } as never)
  const counting = refusing.through({
    ...refusing.github,
    rest: async (call: never) => {
      sent++
      return refusing.github.rest(call)
    },
  } as Github)
  const given = { services: { collector: counting }, context: { owner: String(scene.userId), run: 1 } }
  for (const n of [1, 2, 3])
    expect(await runHandler(commitStatistics, { collection: 1, run: 1, id: n, sha: 'abc' }, given as never)).toMatchObject({
      type: 'snooze',
    })
  expect(sent).toBe(1)
})

test('[C-08] a user without rights to itself has no good token, and one that was removed has no job', async ({ collecting }) => {
  const scene = await collecting({ start: false })
  const services = { collector: workshop(scene, { type: 'forbidden', kind: 'permission', message: 'not accessible' } as never) }
  const run = () => runHandler(profile, { collection: 1, run: 1 }, { services, context: { owner: String(scene.userId), run: 1 } })
  expect(await run()).toMatchObject({ type: 'snooze' })
  expect(await scene.collector.users.find(scene.userId)).toMatchObject({ tokenState: 'refused', tokenRefusal: 'not accessible' })
  await scene.collector.users.remove(scene.userId)
  expect(await run()).toMatchObject({ type: 'cancel' })
})

test('[C-01] [C-02] of a user of another GitHub nothing is asked, and the job is tried again where somebody may ask the right one', async ({
  collecting,
}) => {
  const scene = await collecting({ start: false })
  let sent = 0
  const elsewhere = workshop(scene, { type: 'gone' } as never, 'https://api.github.com')
  const counting = elsewhere.through({ ...elsewhere.github, rest: async () => void sent++ } as never)
  const given = { services: { collector: counting }, context: { owner: String(scene.userId), run: 1 } }
  const outcome = await runHandler(commitStatistics, { collection: 1, run: 1, id: 7, sha: 'abc' }, given as never)
  expect(outcome).toMatchObject({ type: 'retry', error: { code: 'USER_ELSEWHERE' } })
  expect(sent).toBe(0)
})
