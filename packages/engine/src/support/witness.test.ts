/** Who hears of a fact, and what happens when the hearer throws. */
import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import type { Fact } from './fact.ts'
import type { Log } from './log.ts'
import { witness } from './witness.ts'

const ended: Fact = {
  type: 'job.ended',
  job: 7,
  kind: 'mail',
  attempt: 2,
  outcome: 'done',
  ranMs: 12.3456,
  run: undefined,
  trace: undefined,
  error: undefined,
}

function notebook(options: { jobs?: boolean } = {}): { log: Log; lines: [string, string, unknown][] } {
  const lines: [string, string, unknown][] = []
  const note = (level: string) => (event: string, fields?: Record<string, unknown>) => void lines.push([level, event, fields])
  return { lines, log: { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error'), ...options } }
}

test('[O-07] nobody observes and the log wants no line a job: the hot path is given nothing to call', () => {
  const { log } = notebook()
  expect(witness(undefined, log).jobs).toBeUndefined()
  expect(witness(() => {}, log).jobs).toBeDefined()
  expect(witness(undefined, { ...log, jobs: true }).jobs).toBeDefined()
})

test('[O-07] an observer hears every fact, and the log gets a line a job only if it asks for it', () => {
  const heard: Fact[] = []
  const quiet = notebook()
  witness((fact) => heard.push(fact), quiet.log).tell(ended)
  expect(heard).toEqual([ended])
  expect(quiet.lines).toEqual([])
  const eager = notebook({ jobs: true })
  witness(undefined, eager.log).tell(ended)
  expect(eager.lines).toStrictEqual([['info', 'job done', { job: 7, kind: 'mail', attempt: 2, ms: 12.3 }]])
  expect(inspect(eager.lines[0]?.[2])).not.toContain('\n') // as console.log prints it
})

test('[O-07] a job that failed for good leaves a line, whether the log asks for one a job or not', () => {
  const { log, lines } = notebook()
  witness(undefined, log).tell({ ...ended, outcome: 'failed', error: { message: 'no such address' } })
  expect(lines).toEqual([['error', 'job failed', expect.objectContaining({ job: 7, error: { message: 'no such address' } })]])
})

test('[O-07] an observer that throws is caught, told on, and complained about once', () => {
  const { log, lines } = notebook()
  let told = 0
  const { tell } = witness(() => {
    told++
    throw new Error('counter overflow')
  }, log)
  tell(ended)
  tell(ended)
  expect(told).toBe(2)
  expect(lines).toEqual([['error', expect.stringContaining('observer'), { reason: 'Error: counter overflow' }]])
})

test.each<[Fact, string, string]>([
  [{ type: 'job.rescued', rescued: 1, failed: 0, jobs: [3], workers: ['a:1'] }, 'warn', 'job rescued'],
  [{ type: 'lane.held', lane: 'x', until: new Date(0), reason: 'server', job: 1 }, 'info', 'lane held'],
  [
    {
      type: 'run.ended',
      run: 1,
      kind: 'k',
      owner: undefined,
      state: 'failed',
      succeeded: 1,
      failed: 2,
      canceled: 0,
      tookMs: 5,
    },
    'warn',
    'run ended',
  ],
  [{ type: 'promoter.slept', ms: 10 }, 'debug', 'promoter slept'],
  [{ type: 'promoter.promoted', jobs: 3 }, 'info', 'promoter promoted'],
  [{ type: 'leader.changed', leads: true, term: 4 }, 'info', 'leading'],
  [{ type: 'leader.changed', leads: false, term: 4 }, 'info', 'leadership lost'],
  [{ type: 'schedule.fired', schedule: 's', jobs: 1, missed: 0 }, 'info', 'schedule fired'],
  [{ type: 'event.published', event: 'e', id: 1 }, 'debug', 'event published'],
])('[O-07] %j leaves the line %s "%s"', (fact, level, event) => {
  const { log, lines } = notebook()
  witness(undefined, log).tell(fact)
  const { type: _, ...fields } = fact
  expect(lines).toEqual([[level, event, fact.type === 'leader.changed' ? { term: 4 } : fields]])
})
