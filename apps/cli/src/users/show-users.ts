/**
 * Users to look at: whose token works, how far their newest collection is, what is left of their quota.
 */
import type { Progress, User } from '@sluice/collector'
import { describeQuota, doneOf } from '../collect/describe.ts'
import { pageOf } from '../session/filter.ts'
import { answerList } from '../session/listing.ts'
import type { Call } from '../session/tree.ts'
import { type Column, renderFields } from '../terminal/table.ts'
import type { Colour, Terminal } from '../terminal/terminal.ts'
import { plain } from '../terminal/text.ts'
import { exact, relative } from '../terminal/times.ts'
import { findUser } from './find-user.ts'

const tokenColours: Readonly<Record<User['tokenState'], Colour>> = { ok: 'green', refused: 'red' }

export async function listUsers({ session, options }: Call): Promise<void> {
  const { collector } = await session.system({ collects: true })
  const page = await collector.users.list(pageOf(options))
  const now = session.now()
  const columns: Column<User>[] = [
    { title: 'login', value: ({ login }) => login, least: 10 },
    { title: 'id', value: ({ id }) => id, align: 'right', spare: true },
    { title: 'name', value: ({ name }) => name, least: 8, spare: true },
    { title: 'token', value: ({ tokenState }) => tokenState, paint: ({ tokenState }) => tokenColours[tokenState] },
    { title: 'api', value: ({ apiUrl }) => apiUrl, least: 12, spare: true },
    { title: 'registered', value: ({ registeredAt }) => relative(registeredAt, now) },
    { title: 'last run', value: ({ lastRun }) => lastRun ?? 'none', align: 'right' },
    { title: 'refused', value: ({ tokenRefusal }) => tokenRefusal, least: 10, paint: () => 'red' },
  ]
  answerList(session, page, columns, 'Nobody is registered. `sluice users add LOGIN` registers an account.')
}

export async function showUser({ session, args: [login = ''] }: Call): Promise<void> {
  const { collector } = await session.system({ collects: true })
  const user = await findUser(collector, login)
  const progress = await collector.progress(user.id)
  session.output.answer({ ...user, collection: progress ?? null }, (terminal) =>
    describe(user, progress, session.now(), terminal),
  )
}

function describe(user: User, progress: Progress | undefined, now: number, terminal: Terminal): string {
  const run = progress?.run
  return renderFields(
    [
      { title: 'user', text: `${plain(user.login)}${user.name ? ` (${plain(user.name)})` : ''}` },
      { title: 'id', text: String(user.id) },
      { title: 'api', text: plain(user.apiUrl) },
      { title: 'registered', text: exact(user.registeredAt, now) },
      { title: 'token', text: describeToken(user, now), colour: tokenColours[user.tokenState] },
      { title: 'strategy', text: user.strategy ?? '' },
      {
        title: 'collection',
        text: run ? `run ${run.id}, ${run.state}, started ${relative(run.createdAt, now)} by ${plain(run.trigger)}` : 'none yet',
      },
      { title: 'done', text: progress ? doneOf(progress) : '' },
      { title: 'expected', text: run?.finishedAt ? '' : exact(progress?.expectedEnd, now) },
      { title: 'error', text: plain(run?.error?.message ?? ''), colour: 'red' },
      { title: 'quota', text: progress ? describeQuota(progress.quota, now).join('\n') : '' },
    ],
    terminal,
  )
}

function describeToken({ tokenState, tokenRefusedAt, tokenRefusal }: User, now: number): string {
  if (tokenState === 'ok') return 'ok'
  return `refused ${relative(tokenRefusedAt, now)}: ${plain(tokenRefusal ?? '')}. \`sluice users rotate\` gives a new one.`
}
