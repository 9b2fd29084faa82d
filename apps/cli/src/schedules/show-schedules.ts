/**
 * Schedules to look at.
 */
import type { StoredSchedule } from '@sluice/engine'
import { answerList } from '../session/listing.ts'
import type { Call } from '../session/tree.ts'
import { type Column, renderFields } from '../terminal/table.ts'
import type { Colour } from '../terminal/terminal.ts'
import { plain } from '../terminal/text.ts'
import { exact, relative } from '../terminal/times.ts'

export async function listSchedules({ session }: Call): Promise<void> {
  const { engine } = await session.system()
  const items = await engine.schedules.list()
  const columns: Column<StoredSchedule>[] = [
    { title: 'name', value: ({ name }) => name, least: 12 },
    { title: 'cron', value: ({ cron }) => cron },
    { title: 'zone', value: ({ zone }) => zone, least: 8, spare: true },
    { title: 'kind', value: ({ kind }) => kind, least: 10 },
    { title: 'state', value: (one) => stateOf(one, session.now()), paint: (one) => colourOf(one, session.now()) },
    { title: 'last', value: ({ lastAt }) => relative(lastAt, session.now()) },
    { title: 'next', value: ({ nextAt, pausedAt }) => (pausedAt ? '' : relative(nextAt, session.now())) },
    { title: 'fired', value: ({ fired }) => fired, align: 'right', spare: true },
    { title: 'skipped', value: ({ skipped }) => skipped || '', align: 'right', spare: true },
  ]
  answerList(session, { items, next: undefined }, columns, 'There is no schedule. Modules of `load` bring them.')
}

export async function showSchedule({ session, args: [name = ''], options }: Call): Promise<void> {
  const { engine } = await session.system()
  const fires = options['fires'] as number | undefined
  const one = await engine.schedules.show(name, fires === undefined ? {} : { fires })
  const now = session.now()
  session.output.answer(one, (terminal) =>
    renderFields(
      [
        { title: 'name', text: plain(one.name) },
        { title: 'state', text: stateOf(one, now), colour: colourOf(one, now) },
        { title: 'why', text: plain(one.pausedReason ?? one.error?.message ?? (isOverdue(one, now) ? nobodyFires : '')) },
        { title: 'cron', text: `${plain(one.cron)} in ${plain(one.zone)}` },
        { title: 'job', text: `${plain(one.kind)} ${plain(JSON.stringify(one.payload))}` },
        { title: 'overlap', text: `${one.overlap}, catches up ${one.catchUp}` },
        { title: 'fired', text: `${one.fired}, skipped ${one.skipped}` },
        { title: 'last', text: one.lastAt ? `${exact(one.lastAt, now)}${one.lastJob ? `, job ${one.lastJob}` : ''}` : '' },
        { title: 'next', text: one.nextFires.map((fire) => `${inZone(fire, one.zone)}  ${relative(fire, now)}`).join('\n') },
      ],
      terminal,
    ),
  )
}

/** A leader fires within milliseconds. */
const lateMs = 10_000
const nobodyFires =
  'its time is over and it has not fired: no process leads. Start `sluice scheduler` or `sluice up`; `sluice workers list` shows who is there.'

function isOverdue({ nextAt, pausedAt, error }: StoredSchedule, now: number): boolean {
  return !pausedAt && !error && nextAt !== null && now - nextAt.getTime() > lateMs
}

function stateOf(one: StoredSchedule, now: number): string {
  if (isOverdue(one, now)) return 'overdue'
  return one.pausedAt ? 'paused' : one.error ? 'in trouble' : 'on'
}

function colourOf(one: StoredSchedule, now: number): Colour {
  if (isOverdue(one, now)) return 'yellow'
  return one.pausedAt ? 'yellow' : one.error ? 'red' : 'green'
}

function inZone(date: Date, zone: string): string {
  try {
    return new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' }).format(date)
  } catch {
    return date.toISOString()
  }
}
