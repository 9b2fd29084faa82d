/** What words and facts mean to people who look on, and how many of them are told as few. */
import { describe, expect, test } from 'vitest'
import { HandClock } from '../testing/hand-clock.ts'
import { type Change, readFact, readMessage, writeChanges } from './change.ts'
import { Gathering } from './gathering.ts'

describe('[O-04] words on the channel', () => {
  test.for<[string, Change[]]>([
    ['ready:light', [{ topic: 'jobs', more: true }]],
    [
      'turn:*',
      [
        { topic: 'jobs', more: true },
        { topic: 'lanes', more: true },
      ],
    ],
    ['due:0', [{ topic: 'jobs', more: true }]],
    ['retired:', [{ topic: 'jobs', more: true }]],
    ['cancel:3:77:1763000000000000', [{ topic: 'jobs', ids: [77], more: false }]],
    [
      'run:5',
      [
        { topic: 'runs', ids: [5], more: false },
        { topic: 'events', more: true },
      ],
    ],
    ['started:5', [{ topic: 'runs', ids: [5], more: false }]],
    [
      'pause:',
      [
        { topic: 'jobs', more: true },
        { topic: 'lanes', more: true },
      ],
    ],
    ['lane:', [{ topic: 'lanes', more: true }]],
    ['schedule:', [{ topic: 'schedules', more: true }]],
    ['worker:', [{ topic: 'workers', more: true }]],
    ['leader:', [{ topic: 'workers', more: true }]],
    ['echo:x', []],
    ['change:4:no json', []],
    ['change:4:[{"topic":"planets","more":true}]', []],
    ['change:4:[{"topic":"jobs"}]', []],
    ['', []],
  ])('%s', ([message, changes]) => {
    expect(readMessage(message, 1)).toEqual(changes)
  })
})

test('[O-04] what one process says another reads; its own words say nothing new', () => {
  const said = writeChanges(4, [
    { topic: 'jobs', ids: [1, 2], more: false },
    { topic: 'lanes', more: true },
  ])
  expect(readMessage(said, 1)).toEqual([
    { topic: 'jobs', ids: [1, 2], more: false },
    { topic: 'lanes', more: true },
  ])
  expect(readMessage(said, 4)).toEqual([])
})

test('[O-04] facts tell which rows; those that the channel tells of anyway are left out', () => {
  const ended = { job: 7, kind: 'k', attempt: 1, outcome: 'done', ranMs: 1, error: undefined, trace: undefined } as const
  expect(readFact({ type: 'job.ended', ...ended, run: 3 })).toEqual([
    { topic: 'jobs', ids: [7], more: false },
    { topic: 'runs', ids: [3], more: false },
  ])
  expect(readFact({ type: 'job.ended', ...ended, run: undefined })).toEqual([{ topic: 'jobs', ids: [7], more: false }])
  expect(readFact({ type: 'promoter.slept', ms: 1 })).toEqual([])
})

describe('[O-04] changes are gathered', () => {
  const scene = () => {
    const clock = new HandClock()
    const told: { atMs: number; changes: Change[] }[] = []
    return { clock, told, gathering: new Gathering(clock, (changes) => told.push({ atMs: clock.monotonic(), changes })) }
  }

  test('the first at once, what follows together, four times a second at most', () => {
    const { clock, told, gathering } = scene()
    for (let id = 1; id <= 1_000; id++) {
      gathering.add({ topic: 'jobs', ids: [id], more: false })
      clock.turn(1)
    }
    clock.turn(1_000)
    expect(told.map(({ atMs }) => atMs)).toEqual([0, 250, 500, 750, 1_000])
    expect(told[0]!.changes).toEqual([{ topic: 'jobs', ids: [1], more: false }])
  })

  test('a hundred rows are told by their ids, those beyond as more', () => {
    const { clock, told, gathering } = scene()
    for (let id = 1; id <= 100; id++) gathering.add({ topic: 'jobs', ids: [id], more: false })
    gathering.add({ topic: 'jobs', ids: [5], more: false })
    gathering.add({ topic: 'runs', ids: [1], more: false })
    gathering.add({ topic: 'runs', more: true })
    gathering.add({ topic: 'events', ids: [2, 2], more: false })
    gathering.add({ topic: 'lanes', more: true })
    clock.turn(0)
    const ids = Array.from({ length: 100 }, (_, n) => n + 1)
    expect(told.map(({ changes }) => changes)).toEqual([
      [
        { topic: 'jobs', ids, more: false },
        { topic: 'runs', ids: [1], more: true },
        { topic: 'events', ids: [2], more: false },
        { topic: 'lanes', more: true },
      ],
    ])
    for (let id = 1; id <= 101; id++) gathering.add({ topic: 'jobs', ids: [id], more: false })
    clock.turn(250)
    expect(told[1]!.changes).toEqual([{ topic: 'jobs', ids, more: true }])
  })

  test('nothing is told while nothing happens, nor what was dropped', () => {
    const { clock, told, gathering } = scene()
    gathering.add({ topic: 'jobs', more: true })
    clock.turn(10)
    gathering.add({ topic: 'jobs', more: true })
    gathering.drop()
    clock.turn(10_000)
    gathering.flush()
    expect(told).toHaveLength(1)
  })
})
