/**
 * Runs to look at: how far they are, what failed, when they may end.
 */
import type { Job, Run, RunProgress, RunState } from '@sluice/engine'
import { idOf } from '../session/choices.ts'
import { pageOf } from '../session/filter.ts'
import { answerList } from '../session/listing.ts'
import type { Call } from '../session/tree.ts'
import { type Column, renderFields, renderTable } from '../terminal/table.ts'
import type { Colour, Terminal } from '../terminal/terminal.ts'
import { plain, plainLines } from '../terminal/text.ts'
import { exact, relative, span } from '../terminal/times.ts'
import { findRun } from './steer-runs.ts'

const colours: Readonly<Record<RunState, Colour>> = {
  created: 'dim',
  planning: 'blue',
  running: 'cyan',
  finalizing: 'cyan',
  completed: 'green',
  failed: 'red',
  canceled: 'magenta',
}

export async function listRuns({ session, options }: Call): Promise<void> {
  const { engine } = await session.system()
  const { kind, owner, state } = options as { kind?: string; owner?: string; state?: RunState }
  const page = await engine.inspect.runs({ kind, owner, state }, pageOf(options))
  const now = session.now()
  const columns: Column<Run>[] = [
    { title: 'id', value: ({ id }) => id, align: 'right' },
    { title: 'state', value: ({ state }) => state, paint: ({ state }) => colours[state] },
    { title: 'kind', value: ({ kind }) => kind, least: 10 },
    { title: 'owner', value: ({ owner }) => owner, least: 6, spare: true },
    { title: 'done', value: (run) => doneOf(run), align: 'right' },
    { title: 'failed', value: ({ failed }) => failed || '', align: 'right', paint: () => 'red' },
    { title: 'started', value: ({ createdAt }) => relative(createdAt, now) },
    {
      title: 'took',
      value: ({ createdAt, finishedAt }) => (finishedAt ? span(finishedAt.getTime() - createdAt.getTime()) : ''),
      spare: true,
    },
    { title: 'error', value: ({ error }) => error?.message, least: 10, paint: () => 'red' },
  ]
  answerList(session, page, columns, 'No run fits.')
}

export async function showRun({ session, args: [text = ''] }: Call): Promise<void> {
  const id = idOf(text)
  const { engine } = await session.system()
  const run = await findRun(engine, id)
  const progress = await engine.inspect.runProgress(id)
  const finalizer = run.finalizerJob === null ? undefined : await engine.find(run.finalizerJob)
  session.output.answer({ ...run, progress: progress ?? null }, (terminal) =>
    describe({ run, progress, finalizer }, session.now(), terminal),
  )
}

interface Shown {
  readonly run: Run
  readonly progress: RunProgress | undefined
  /** Nothing while there is none, and when it is forgotten. */
  readonly finalizer: Job | undefined
}

function describe({ run, progress, finalizer }: Shown, now: number, terminal: Terminal): string {
  const fields = renderFields(
    [
      { title: 'run', text: `${run.id}  ${plain(run.kind)}` },
      { title: 'state', text: run.state, colour: colours[run.state] },
      { title: 'owner', text: plain(run.owner ?? '') },
      { title: 'started', text: `${exact(run.createdAt, now)} by ${plain(run.trigger)}` },
      { title: 'finished', text: exact(run.finishedAt, now) },
      { title: 'done', text: `${doneOf(run)}, ${run.succeeded} succeeded, ${run.failed} failed, ${run.canceled} canceled` },
      { title: 'expected', text: run.finishedAt ? '' : exact(progress?.expectedEnd, now) },
      { title: 'root job', text: String(run.rootJob) },
      { title: 'finalizer', text: finalizer ? `${finalizer.id}  ${finalizer.state}` : String(run.finalizerJob ?? '') },
      { title: 'payload', text: plainLines(JSON.stringify(run.payload, null, 2)) },
      { title: 'error', text: plain(run.error?.message ?? ''), colour: 'red' },
    ],
    terminal,
  )
  if (!progress || progress.kinds.length === 0) return fields
  const table = renderTable(
    [
      { title: 'kind', value: ({ kind }) => kind, least: 12 },
      { title: 'jobs', value: ({ states }) => describeStates(states), least: 20 },
    ],
    progress.kinds,
    terminal,
  )
  return `${fields}\n\n${table}`
}

function doneOf({ total, pending }: Run): string {
  return `${total - pending}/${total}`
}

function describeStates(states: Readonly<Record<string, number>>): string {
  return Object.entries(states)
    .filter(([, count]) => count > 0)
    .map(([state, count]) => `${count} ${state}`)
    .join(', ')
}
