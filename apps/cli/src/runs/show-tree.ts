/**
 * The jobs of a run, children below their parents. A page holds a part of the tree; parents on an earlier page are only named.
 */
import type { TreeJob } from '@sluice/engine'
import { colourOf } from '../jobs/columns.ts'
import { idOf } from '../session/choices.ts'
import { pageOf } from '../session/filter.ts'
import type { Call } from '../session/tree.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { cut, plain } from '../terminal/text.ts'
import { span } from '../terminal/times.ts'
import { findRun } from './steer-runs.ts'

export async function showTree({ session, args: [text = ''], options }: Call): Promise<void> {
  const id = idOf(text)
  const { engine } = await session.system()
  await findRun(engine, id)
  const { items, next } = await engine.inspect.runTree(id, pageOf(options))
  session.output.answer({ items, next: next ?? null }, (terminal) => renderTree(items, terminal))
  if (next && !session.output.json) session.output.say(`More: --cursor ${next}`)
}

export function renderTree(jobs: readonly TreeJob[], terminal: Terminal): string {
  const here = new Set(jobs.map(({ id }) => id))
  const below = new Map<number, TreeJob[]>()
  for (const job of jobs) {
    const parent = job.parent !== null && here.has(job.parent) ? job.parent : 0
    below.set(parent, [...(below.get(parent) ?? []), job])
  }
  const lines: string[] = []
  const walk = (parent: number, indent: string): void => {
    const children = below.get(parent) ?? []
    for (const [index, job] of children.entries()) {
      const isLast = index === children.length - 1
      const branch = parent === 0 ? '' : isLast ? '└─ ' : '├─ '
      lines.push(line(job, indent + branch, parent === 0 && job.parent !== null, terminal))
      walk(job.id, parent === 0 ? indent : `${indent}${isLast ? '   ' : '│  '}`)
    }
  }
  walk(0, '')
  return lines.join('\n')
}

function line(job: TreeJob, indent: string, isOrphan: boolean, terminal: Terminal): string {
  const took = job.startedAt && job.finishedAt ? ` ${span(job.finishedAt.getTime() - job.startedAt.getTime())}` : ''
  const above = isOrphan ? `below ${job.parent ?? ''}  ` : ''
  const about = job.error?.message ? `  ${plain(job.error.message)}` : ''
  const text = `${above}${job.id} ${plain(job.kind)}  ${job.state}${took}${about}`
  const shown = cut(text, (terminal.columns ?? Number.POSITIVE_INFINITY) - indent.length)
  return terminal.paint('dim', indent) + shown.replace(job.state, () => terminal.paint(colourOf(job.state), job.state))
}
