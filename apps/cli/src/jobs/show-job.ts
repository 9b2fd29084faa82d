/**
 * One job: what it is, what became of its attempts, and what it waits for.
 */
import type { Attempt, Engine, Job, JobLine } from '@sluice/engine'
import { idOf } from '../session/choices.ts'
import { CommandError, exit } from '../session/exit.ts'
import type { Call } from '../session/tree.ts'
import { renderFields, renderTable } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { plain, plainLines } from '../terminal/text.ts'
import { exact, relative, span } from '../terminal/times.ts'
import { colourOf } from './columns.ts'

const linesMax = 1_000

export async function showJob({ session, args: [text = ''] }: Call): Promise<void> {
  const id = idOf(text)
  const { engine } = await session.system()
  const job = await findOr404(engine, id)
  const [attempts, why, log] = await Promise.all([engine.attempts(id), engine.why(id), engine.jobLog(id, { limit: linesMax })])
  const logMore = log.length === linesMax
  session.output.answer({ ...job, attempts, why, log, logMore }, (terminal) =>
    [
      describeJob(job, why.text, session.now(), terminal),
      describeAttempts(attempts, session.now(), terminal),
      describeLog(log, terminal),
      logMore ? `The first ${linesMax} lines it logged; there may be more.` : '',
    ]
      .filter((part) => part !== '')
      .join('\n\n'),
  )
}

export async function explainJob({ session, args: [text = ''] }: Call): Promise<void> {
  const id = idOf(text)
  const { engine } = await session.system()
  await findOr404(engine, id)
  const why = await engine.why(id)
  session.output.answer({ id, ...why }, () => plain(why.text))
}

export async function findOr404(engine: Engine, id: number): Promise<Job> {
  const job = await engine.find(id)
  if (!job)
    throw new CommandError(
      exit.notFound,
      'UNKNOWN_JOB',
      `There is no job ${id}. Finished ones are kept for \`keepDays\`, then forgotten.`,
    )
  return job
}

function describeJob(job: Job, why: string, now: number, terminal: Terminal): string {
  const isOver = job.finishedAt !== null
  return renderFields(
    [
      { title: 'job', text: `${job.id}  ${plain(job.kind)}` },
      { title: 'state', text: job.state, colour: colourOf(job.state) },
      { title: 'why', text: isOver ? '' : plain(why) },
      { title: 'pool', text: plain(job.pool) },
      { title: 'lane', text: plain(job.lane) },
      { title: 'owner', text: plain(job.owner ?? '') },
      { title: 'key', text: plain(job.key ?? '') },
      { title: 'priority', text: job.priority === 0 ? '' : String(job.priority) },
      { title: 'from', text: originOf(job) },
      { title: 'made', text: exact(job.createdAt, now) },
      { title: 'not before', text: exact(job.runAt, now) },
      { title: 'started', text: exact(job.startedAt, now) },
      { title: 'finished', text: exact(job.finishedAt, now) },
      { title: 'cancel asked', text: exact(job.cancelRequestedAt, now) },
      { title: 'payload', text: plainLines(JSON.stringify(job.payload, null, 2)) },
      { title: 'error', text: plain(job.error?.message ?? ''), colour: 'red' },
    ],
    terminal,
  )
}

function describeAttempts(attempts: readonly Attempt[], now: number, terminal: Terminal): string {
  if (attempts.length === 0) return ''
  return renderTable(
    [
      { title: 'try', value: ({ attempt }) => attempt, align: 'right' },
      { title: 'outcome', value: ({ outcome }) => outcome },
      { title: 'started', value: ({ startedAt }) => relative(startedAt, now) },
      { title: 'took', value: ({ startedAt, endedAt }) => tookOf(startedAt, endedAt), align: 'right' },
      { title: 'worker', value: ({ worker }) => worker, align: 'right' },
      { title: 'error', value: ({ error }) => error?.message, least: 16, paint: () => 'red' },
    ],
    attempts,
    terminal,
  )
}

/** Oldest first, as it was written. */
function describeLog(lines: readonly JobLine[], terminal: Terminal): string {
  return lines
    .map(({ at, message, fields }) => {
      const rest = fields === null ? '' : ` ${terminal.paint('dim', plain(JSON.stringify(fields)))}`
      return `${terminal.paint('dim', at.toISOString().slice(11, 23))}  ${plain(message)}${rest}`
    })
    .join('\n')
}

function originOf({ parent, root, run, event }: Job): string {
  return [
    parent ? `job ${parent}` : '',
    root && root !== parent ? `tree of ${root}` : '',
    run ? `run ${run}` : '',
    event ? `event ${event}` : '',
  ]
    .filter((part) => part !== '')
    .join(', ')
}

function tookOf(startedAt: Date | null, endedAt: Date | null): string {
  return startedAt && endedAt ? span(endedAt.getTime() - startedAt.getTime()) : ''
}
