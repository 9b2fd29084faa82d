/**
 * Lanes to look at: whether they are open, and if not, until when.
 */
import type { Lane } from '@sluice/engine'
import { CommandError, exit } from '../session/exit.ts'
import { pageOf } from '../session/filter.ts'
import { answerList } from '../session/listing.ts'
import type { Call } from '../session/tree.ts'
import { type Column, renderFields } from '../terminal/table.ts'
import type { Colour } from '../terminal/terminal.ts'
import { plain } from '../terminal/text.ts'
import { exact, relative } from '../terminal/times.ts'

export async function listLanes({ session, options }: Call): Promise<void> {
  const { engine } = await session.system()
  const { owner, closed } = options as { owner?: string; closed?: boolean }
  const filter = { ...(owner === undefined ? {} : { owner }), ...(closed === undefined ? {} : { closed }) }
  const page = await engine.inspect.lanes(filter, pageOf(options))
  const now = session.now()
  const columns: Column<Lane>[] = [
    { title: 'lane', value: ({ name }) => name, least: 14 },
    { title: 'state', value: (lane) => stateOf(lane, now), least: 6, paint: (lane) => colourOf(lane, now) },
    { title: 'opens', value: (lane) => (lane.closed ? relative(opening(lane, now), now) : '') },
    { title: 'owner', value: ({ owner }) => owner, least: 6 },
    { title: 'running', value: ({ inFlight, cap }) => (cap === null ? inFlight || '' : `${inFlight}/${cap}`), align: 'right' },
    { title: 'budget', value: ({ metered, remaining }) => (metered ? (remaining ?? 'unknown') : ''), align: 'right' },
    { title: 'resets', value: ({ metered, resetAt }) => (metered ? relative(resetAt, now) : '') },
    { title: 'weight', value: ({ weight }) => (weight === 1 ? '' : weight), align: 'right' },
  ]
  answerList(session, page, columns, closed ? 'No lane is closed.' : 'There is no lane.')
}

export async function showLane({ session, args: [name = ''] }: Call): Promise<void> {
  const { engine } = await session.system()
  const lane = await engine.lanes.find(name)
  if (!lane)
    throw new CommandError(
      exit.notFound,
      'UNKNOWN_LANE',
      `There is no lane "${name}". \`sluice lanes list\` shows those that were used.`,
    )
  const now = session.now()
  session.output.answer(lane, (terminal) =>
    renderFields(
      [
        { title: 'lane', text: plain(lane.name) },
        { title: 'state', text: stateOf(lane, now), colour: colourOf(lane, now) },
        { title: 'why', text: plain(lane.paused ?? '') },
        { title: 'opens', text: lane.closed ? exact(opening(lane, now), now) : '' },
        { title: 'owner', text: plain(lane.owner ?? '') },
        { title: 'running', text: lane.cap === null ? String(lane.inFlight) : `${lane.inFlight} of at most ${lane.cap}` },
        {
          title: 'budget',
          text: lane.metered
            ? `${lane.remaining ?? 'unknown'}${lane.limit === null ? '' : ` of ${lane.limit}`}, of which ${lane.floor} stay untouched`
            : '',
        },
        { title: 'resets', text: lane.metered ? exact(lane.resetAt, now) : '' },
        { title: 'held', text: isAhead(lane.holdUntil, now) ? `until ${exact(lane.holdUntil, now)}` : '' },
        { title: 'failures', text: lane.failures > 0 ? `${lane.failures} in a row` : '' },
        { title: 'weight', text: lane.weight === 1 ? '' : String(lane.weight) },
      ],
      terminal,
    ),
  )
}

const isAhead = (date: Date | null, nowMs: number): boolean => date !== null && date.getTime() > nowMs

function stateOf(lane: Lane, nowMs: number): string {
  if (lane.paused !== null) return 'paused'
  if (isAhead(lane.holdUntil, nowMs)) return 'held'
  if (isAhead(lane.brokenUntil, nowMs)) return 'broken'
  if (!lane.closed) return 'open'
  return lane.cap !== null && lane.inFlight >= lane.cap ? 'full' : 'closed'
}

function colourOf(lane: Lane, nowMs: number): Colour {
  const state = stateOf(lane, nowMs)
  return state === 'open' ? 'green' : state === 'broken' ? 'red' : 'yellow'
}

function opening({ paused, holdUntil, brokenUntil, opensAt, metered, resetAt }: Lane, nowMs: number): Date | null {
  if (paused !== null) return null
  return [holdUntil, brokenUntil, opensAt, metered ? resetAt : null].find((date) => isAhead(date, nowMs)) ?? null
}
