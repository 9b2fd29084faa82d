/**
 * Changes, as they are told to people who look on: "look again at these jobs", never what changed.
 *
 * They are read from two sources: from words on the channel that processes say to each other anyway, and from facts of processes that work, which
 * those tell only while somebody looks on.
 */
import { z } from 'zod'
import type { Fact } from '../support/fact.ts'

export const topics = ['jobs', 'runs', 'lanes', 'workers', 'schedules', 'events'] as const

export type Topic = (typeof topics)[number]

export interface Change {
  readonly topic: Topic
  /** Those that are known to have changed, a hundred at most. */
  readonly ids?: readonly number[]
  /** Others may have changed as well, or new ones may be there. */
  readonly more: boolean
}

const changesSchema = z.array(z.object({ topic: z.enum(topics), ids: z.array(z.int()).max(1_000).optional(), more: z.boolean() }))

const any = (topic: Topic): Change => ({ topic, more: true })
const one = (topic: Topic, id: number): Change => ({ topic, ids: [id], more: false })

/** The words of one process that works: who says it, and which rows. */
export function writeChanges(worker: number, changes: readonly Change[]): string {
  return `change:${worker}:${JSON.stringify(changes)}`
}

/** What a word on the channel means to who looks on in process `here`; its own are known already. */
export function readMessage(message: string, here: number): Change[] {
  const [word = '', first = '', ...rest] = message.split(':')
  switch (word) {
    case 'change':
      return Number(first) === here ? [] : readChanges(rest.join(':'))
    case 'ready':
    case 'due':
    case 'retired':
    case 'suspect':
      return [any('jobs')]
    case 'turn':
    case 'pause':
      return [any('jobs'), any('lanes')]
    case 'cancel':
      return [one('jobs', Number(rest[0]))]
    case 'run':
      return [one('runs', Number(first)), any('events')]
    case 'started':
      return [one('runs', Number(first))]
    case 'lane':
      return [any('lanes')]
    case 'schedule':
      return [any('schedules')]
    case 'leader':
    case 'worker':
      return [any('workers')]
    default:
      return []
  }
}

/** What a fact of this process means to who looks on. What the channel tells of anyway is left out. */
export function readFact(fact: Fact): Change[] {
  switch (fact.type) {
    case 'job.started':
      return [one('jobs', fact.job)]
    case 'job.ended':
      return [one('jobs', fact.job), ...(fact.run === undefined ? [] : [one('runs', fact.run)])]
    case 'job.rescued':
      return [any('jobs'), any('workers')]
    case 'lane.held':
      return [any('lanes')]
    case 'leader.changed':
      return [any('workers')]
    case 'schedule.fired':
      return [any('schedules')]
    case 'event.published':
      return [one('events', fact.id)]
    case 'job.enqueued':
    case 'run.ended':
    case 'promoter.slept':
    case 'promoter.promoted':
    case 'dispatch.changed':
    case 'dispatch.taken-over':
      return []
  }
}

function readChanges(json: string): Change[] {
  try {
    return changesSchema.parse(JSON.parse(json)).map(({ ids, ...change }) => (ids ? { ...change, ids } : change))
  } catch {
    return [] // of a newer version, or of a stranger
  }
}
