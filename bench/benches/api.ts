/**
 * API: does a page of jobs, or one job, take longer to get with a million jobs around than with a thousand?
 *
 * A server in a process of its own, asked over fifty connections. Nine of ten jobs are finished, the others are of tomorrow, put straight into the tables. The
 * ratio is that of the time that an answer takes, the worse of the two sorts of question.
 */
import type { Bench } from '../bench.ts'
import type { FreshPlace, Ground } from '../ground.ts'
import { turns } from '../measure/rounds.ts'
import { Tally } from '../measure/tally.ts'
import { startChild } from '../processes/start-child.ts'
import { prove, proveApart, proveBooked, proveDurable, proveFuture } from '../proof.ts'
import type { AskAnswer } from '../roles/ask-api.ts'
import { within } from '../servers/postgres.ts'
import { finishedJobs } from './finished-jobs.ts'
import { futureJobs } from './future-jobs.ts'

const connections = 50
const questions = ['list', 'detail'] as const

export const apiBench: Bench = {
  about: 'time of an answer over 50 connections, a page of jobs and one job, with a million jobs against a thousand',
  needsRedis: false,
  headline: { figure: 'listMs', unit: 'ms' },
  async run({ ground, quick, plan, report }) {
    const proof = await proveDurable(ground)
    const askMs = quick ? 1_500 : 5_000
    const times = { list: new Tally(), detail: new Tally() }
    const sources = [
      { name: 'thousand', place: await build(ground, 1_000) },
      { name: 'million', place: await build(ground, quick ? 200_000 : 1_000_000) },
    ]
    for (const { round, contender: source } of turns(sources, { ...plan, rounds: Math.min(plan.rounds, 3) })) {
      const figures = await ask(source.place, askMs)
      for (const question of questions) times[question].add(source.name, figures[question].meanMs)
      report({
        round,
        contender: source.name,
        figures: {
          listMs: figures.list.meanMs,
          listMsP99: figures.list.p99Ms,
          listPerSecond: figures.list.perSecond,
          detailMs: figures.detail.meanMs,
          detailMsP99: figures.detail.p99Ms,
          detailPerSecond: figures.detail.perSecond,
        },
      })
    }
    const ratios = Object.fromEntries(
      questions.map((question) => [question, times[question].median('million') / times[question].median('thousand')]),
    )
    return {
      millionToThousand: Math.max(...Object.values(ratios)),
      ratios,
      connections,
      listMs: times.list.medians(),
      detailMs: times.detail.medians(),
      proof,
    }
  },
}

async function build(ground: Ground, jobs: number): Promise<FreshPlace> {
  const place = await ground.preparedPlace('sluice default')
  console.error(`bench: building a place with ${jobs} jobs`)
  await within(place.databaseUrl, async (client) => {
    await client.query(finishedJobs, [jobs * 0.9])
    await client.query(`select setval('sluice.job_id_seq', $1)`, [jobs])
    await client.query(futureJobs, [jobs * 0.1])
    await client.query('vacuum analyze')
  })
  await proveBooked(place.database, jobs * 0.9, 'bench.past')
  await proveFuture(place.database, jobs * 0.1)
  await place.settle()
  return place
}

async function ask(place: FreshPlace, askMs: number): Promise<Record<(typeof questions)[number], AskAnswer>> {
  const opened = Promise.withResolvers<string>()
  const server = startChild('serveApi', { databaseUrl: place.databaseUrl }, (address) => opened.resolve(address as string))
  const address = await Promise.race([opened.promise, server.result.then(() => '')])
  prove(address !== '', 'the server listens')
  const answers = { list: await load(address, 'list', askMs), detail: await load(address, 'detail', askMs) }
  server.tell('stop')
  const { pid } = await server.result
  proveApart('server and askers', [pid, answers.list.pid, answers.detail.pid])
  return answers
}

async function load(address: string, question: (typeof questions)[number], askMs: number): Promise<AskAnswer> {
  const answer = await startChild('askApi', { address, question, connections, askMs }).result
  prove(answer.refused === 0, 'every question was answered with 200')
  return answer
}
