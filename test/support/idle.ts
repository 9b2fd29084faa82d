/**
 * What an engine sends when it has nothing to do.
 */
import type { Mock } from 'vitest'
import { eventually } from './database.ts'

/**
 * Resolves when so many heartbeats have come in a row and nothing else was sent. What a start leaves behind is let pass, and so is what follows when a
 * process stood still for longer than its lease and takes office again; whoever asks again and again never falls silent.
 */
// oxlint-disable-next-line no-explicit-any -- whatever these are called with
export async function sendsBeatsOnly(send: Mock<(...args: any[]) => any>, query: Mock<(...args: any[]) => any>): Promise<void> {
  const beats = 5
  const sent = (): string[] => send.mock.calls.map(([, statement]) => String((statement as { name?: string }).name))
  let last: string[] = []
  await eventually(async () => {
    send.mockClear()
    query.mockClear()
    await eventually(() => sent().filter((name) => name === 'sluice_beat').length >= beats)
    last = [...sent(), ...query.mock.calls.map(() => 'a query')].filter((name) => name !== 'sluice_beat')
    return last.length === 0
  }, 60_000).catch((cause: unknown) => {
    throw new Error(`an idle engine sent ${last.join(', ')}`, { cause })
  })
}
