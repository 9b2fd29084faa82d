/**
 * The page of `status`, as text.
 */
import type { Bounded, SeenPool } from '@sluice/engine'
import { colourOf } from '../jobs/columns.ts'
import { renderFields, renderTable } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { plain, wrap } from '../terminal/text.ts'
import { relative } from '../terminal/times.ts'
import { workerColumns } from '../workers/list-workers.ts'
import { renderDispatcher, renderHeld } from './dispatch.ts'
import type { Status } from './read-status.ts'

export function renderStatus(status: Status, terminal: Terminal): string {
  const nowMs = status.at.getTime()
  const blocks = [
    renderConcerns(status.concerns, terminal),
    renderFields(
      [
        { title: 'jobs', text: renderJobs(status, terminal) },
        { title: 'runs', text: renderRuns(status) },
        { title: 'lanes', text: status.lanesClosed.count > 0 ? `${number(status.lanesClosed)} closed` : '' },
        { title: 'leader', text: renderLeader(status) },
        { title: 'dispatch', text: renderDispatcher(status.dispatch, nowMs) },
      ],
      terminal.colour ? { ...terminal, columns: undefined } : terminal, // painted words cannot be cut
    ),
    status.pools.length > 0 ? renderPools(status.pools, nowMs, terminal) : '',
    renderHeld(status.dispatch, terminal),
    status.workers.length > 0 ? renderTable(workerColumns(nowMs), status.workers, terminal) : '',
    status.deadLetters.length > 0 ? renderDead(status, terminal) : '',
  ]
  return blocks.filter((block) => block !== '').join('\n\n')
}

function renderConcerns(concerns: readonly string[], terminal: Terminal): string {
  if (concerns.length === 0) return terminal.paint('green', 'All is well.')
  const room = terminal.columns === undefined ? Number.POSITIVE_INFINITY : terminal.columns - 2
  return concerns
    .map((one) =>
      wrap(plain(one), room)
        .map((line, index) => (index === 0 ? `${terminal.paint('yellow', '!')} ${line}` : `  ${line}`))
        .join('\n'),
    )
    .join('\n')
}

function renderJobs({ jobs, ledger }: Status, terminal: Terminal): string {
  const parts = (['ready', 'running', 'scheduled', 'paused', 'failed'] as const)
    .filter((state) => jobs[state].count > 0 || state === 'ready' || state === 'running')
    .map((state) => `${number(jobs[state])} ${jobs[state].count > 0 ? terminal.paint(colourOf(state), state) : state}`)
  const kept = ledger.about > 0 ? `, about ${Math.round(ledger.about).toLocaleString('en')} finished` : ''
  return `${parts.join(', ')}${kept}`
}

function renderRuns({ runs }: Status): string {
  return (['created', 'running', 'finalizing', 'failed'] as const)
    .filter((state) => runs[state].count > 0)
    .map((state) => `${number(runs[state])} ${state}`)
    .join(', ')
}

function renderLeader({ leader }: Status): string {
  return leader.worker === undefined ? 'nobody' : `${plain(leader.name ?? `process ${leader.worker}`)}, term ${leader.term}`
}

function renderPools(pools: readonly SeenPool[], nowMs: number, terminal: Terminal): string {
  return renderTable(
    [
      { title: 'pool', value: ({ name }) => name, least: 6, paint: ({ paused }) => (paused ? 'yellow' : undefined) },
      { title: 'processes', value: ({ workers }) => workers, align: 'right' },
      { title: 'running', value: ({ running, max }) => `${running}/${max}`, align: 'right' },
      { title: 'ready', value: ({ ready }) => number(ready), align: 'right' },
      { title: 'next is ready since', value: ({ next }) => (next ? relative(next.since, nowMs) : ''), spare: true },
      { title: 'paused', value: ({ paused }) => (paused ? (paused.reason ?? 'yes') : ''), least: 6 },
    ],
    pools,
    terminal,
  )
}

function renderDead({ deadLetters, at }: Status, terminal: Terminal): string {
  return renderTable(
    [
      { title: 'failed', value: ({ count }) => count, align: 'right', paint: () => 'red' },
      { title: 'kind', value: ({ kind }) => kind, least: 10 },
      { title: 'last', value: ({ lastAt }) => relative(lastAt, at.getTime()), spare: true },
      { title: 'error', value: ({ code, message }) => [code, message].filter(Boolean).join(': '), least: 16 },
    ],
    deadLetters,
    terminal,
  )
}

function number({ count, more }: Bounded): string {
  return `${count.toLocaleString('en')}${more ? '+' : ''}`
}
