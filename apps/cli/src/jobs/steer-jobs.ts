/**
 * Jobs to steer, by id. Each answer is told; the exit code is that of the worst.
 */
import type { CancelAnswer, Engine } from '@sluice/engine'
import { idOf } from '../session/choices.ts'
import { type ExitCode, exit } from '../session/exit.ts'
import type { Session } from '../session/session.ts'
import type { Call } from '../session/tree.ts'
import { renderTable } from '../terminal/table.ts'

interface Answer {
  readonly id: number
  readonly answer: string
}

const fine = new Set(['retried', 'canceled', 'requested', 'discarded'])
const unknown = 'unknown'

/** Each once: a second cancel of the same job would answer that it is not live. */
const idsOf = (args: readonly string[]): number[] => [...new Set(args.map(idOf))]

export async function retryJobs({ session, args }: Call): Promise<number> {
  const ids = idsOf(args)
  const { engine } = await session.system()
  const answers = await engine.retry(ids)
  return tell(session, await Promise.all(ids.map((id) => orUnknown(engine, id, answers.get(id) ?? 'not failed', 'not failed'))))
}

export async function cancelJobs({ session, args, options }: Call): Promise<number> {
  const ids = idsOf(args)
  const { engine } = await session.system()
  const reason = options['reason'] as string | undefined
  const answers = new Map<number, CancelAnswer>()
  for (const id of ids)
    for (const [told, answer] of await engine.cancel(id, {
      tree: options['tree'] === true,
      ...(reason === undefined ? {} : { reason }),
    }))
      answers.set(told, answer)
  return tell(session, await Promise.all([...answers].map(([id, answer]) => orUnknown(engine, id, answer, 'not live'))))
}

export async function discardJobs({ session, args }: Call): Promise<number> {
  const ids = idsOf(args)
  const { engine } = await session.system()
  const answers: Answer[] = []
  for (const id of ids) {
    const done = (await engine.discard(id)) > 0
    answers.push(done ? { id, answer: 'discarded' } : await orUnknown(engine, id, 'not failed', 'not failed'))
  }
  return tell(session, answers)
}

/** "Not live" and "not failed" may mean that there never was such a job. */
async function orUnknown(engine: Engine, id: number, answer: string, doubtful: string): Promise<Answer> {
  const isThere = answer !== doubtful || (await engine.find(id)) !== undefined
  return { id, answer: isThere ? answer : unknown }
}

function tell(session: Session, answers: readonly Answer[]): ExitCode {
  session.output.answer({ answers }, (terminal) =>
    renderTable(
      [
        { title: 'job', value: ({ id }) => id, align: 'right' },
        { title: 'answer', value: ({ answer }) => answer, paint: ({ answer }) => (fine.has(answer) ? 'green' : 'yellow') },
      ],
      answers,
      terminal,
    ),
  )
  if (answers.some(({ answer }) => answer === unknown)) return exit.notFound
  return answers.every(({ answer }) => fine.has(answer)) ? exit.ok : exit.conflict
}
