/**
 * Strategies to look at and to switch, for one user or for all.
 */
import type { Collector, Strategy, StrategyInForce, Switch } from '@sluice/collector'
import { CommandError, exit } from '../session/exit.ts'
import type { Call } from '../session/tree.ts'
import { type Column, renderTable } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { plain } from '../terminal/text.ts'
import { relative } from '../terminal/times.ts'
import { findUser } from '../users/find-user.ts'

const words = new Set(['graphql', 'rest'])
const none = 'default'
const shownSwitches = 10

export async function switchStrategy({ session, args, options }: Call): Promise<void> {
  const { login, word } = readArguments(args)
  const { collector } = await session.system({ collects: true })
  const user = login === undefined ? undefined : await findUser(collector, login)
  const reason = options['reason'] as string | undefined
  const current = word === undefined ? await collector.strategies.current(user?.id) : await act(collector, user?.id, word, reason)
  const { items } = await collector.strategies.history(user?.id ?? null, { limit: shownSwitches })
  const who = user ? plain(user.login) : 'Everybody without a strategy of their own'
  session.output.answer(
    { ...(user ? { user: { id: user.id, login: user.login } } : {}), ...current, switches: items },
    (terminal) =>
      [`${who}: ${describe(current)}`, ...(items.length > 0 ? ['', render(items, session.now(), terminal)] : [])].join('\n'),
  )
}

/** `strategy rest` is about all; a user who is called so is named by id. */
function readArguments([first, second]: readonly string[]): { login: string | undefined; word: string | undefined } {
  if (second === undefined && first !== undefined && words.has(first)) return { login: undefined, word: first }
  if (second !== undefined && !words.has(second) && second !== none)
    throw new CommandError(
      exit.usage,
      'UNKNOWN_STRATEGY',
      `There is no strategy "${plain(second)}". Write graphql, rest or default.`,
    )
  return { login: first, word: second }
}

function act(
  collector: Collector,
  userId: number | undefined,
  word: string,
  reason: string | undefined,
): Promise<StrategyInForce> {
  if (userId === undefined) return collector.strategies.switchAll(word as Strategy, reason)
  return collector.strategies.switchUser(userId, word === none ? null : (word as Strategy), reason)
}

function describe({ strategy, chosen, lastSwitch }: StrategyInForce): string {
  const watched = lastSwitch?.state === 'watching' ? ', watched: the next collections tell whether it stays' : ''
  return `${strategy}${chosen === null ? ', the one for all' : ''}${watched}`
}

function render(items: readonly Switch[], now: number, terminal: Terminal): string {
  const columns: Column<Switch>[] = [
    { title: 'when', value: ({ madeAt }) => relative(madeAt, now) },
    { title: 'from', value: ({ from }) => from },
    { title: 'to', value: ({ to }) => to },
    { title: 'by', value: ({ madeBy }) => madeBy },
    { title: 'state', value: ({ state }) => state, paint: ({ state }) => (state === 'rolled back' ? 'red' : undefined) },
    { title: 'reason', value: ({ reason }) => reason, least: 10 },
  ]
  return renderTable(columns, items, terminal)
}
