/**
 * API keys from the command line. Whoever can reach the database may do it: this is how the first key is made and a lost one replaced.
 */
import { type Duration, toMs } from '@sluice/engine'
import type { ApiKey, Role } from '@sluice/server'
import { CommandError, exit } from '../session/exit.ts'
import { pageOf } from '../session/filter.ts'
import { answerList } from '../session/listing.ts'
import type { Call } from '../session/tree.ts'
import type { Column } from '../terminal/table.ts'
import { relative } from '../terminal/times.ts'

export async function createKey({ session, args: [name = ''], options }: Call): Promise<void> {
  const { access } = await session.system({ tables: true })
  const expires = options['expires'] as Duration | undefined
  const made = await access.keys.create({
    name,
    role: (options['role'] as Role | undefined) ?? 'read',
    ...(expires === undefined ? {} : { expiresAt: new Date(session.now() + toMs(expires, 'expires')) }),
  })
  const { text, ...key } = made
  session.output.say(`Key ${key.id} may ${key.role}. It is shown this once; keep it now.`)
  session.output.answer({ ...key, key: text.reveal() }, () => text.reveal())
}

export async function listKeys({ session, options }: Call): Promise<void> {
  const { access } = await session.system({ tables: true })
  const page = await access.keys.list(pageOf(options))
  const now = session.now()
  const columns: Column<ApiKey>[] = [
    { title: 'id', value: ({ id }) => id },
    { title: 'name', value: ({ name }) => name, least: 10 },
    { title: 'role', value: ({ role }) => role },
    { title: 'state', value: ({ state }) => state, paint: ({ state }) => (state === 'active' ? 'green' : 'dim') },
    { title: 'made', value: ({ createdAt }) => relative(createdAt, now) },
    { title: 'used', value: ({ lastUsedAt }) => relative(lastUsedAt, now) || 'never' },
    { title: 'ends', value: ({ expiresAt }) => relative(expiresAt, now) || 'never' },
  ]
  answerList(session, page, columns, 'There is no key. `sluice keys create NAME` makes one.')
}

export async function revokeKey({ session, args: [id = ''] }: Call): Promise<void> {
  const { access } = await session.system({ tables: true })
  if (!(await access.keys.revoke(id))) {
    const { items } = await access.keys.list({ limit: 500 })
    const named = items.find(({ name, state }) => name === id && state === 'active')
    const hint = named
      ? `It takes the id, not the name: \`sluice keys revoke ${named.id}\`.`
      : 'It takes the id; `sluice keys list` shows it.'
    throw new CommandError(exit.notFound, 'UNKNOWN_KEY', `There is no key with the id "${id}" that works. ${hint}`)
  }
  session.output.answer({ id, revoked: true }, () => `Key ${id} works no more.`)
}
