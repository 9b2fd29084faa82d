/**
 * Stream source: takes ids from the streams of a pool, claims them in PostgreSQL, and tells Redis what became of them.
 *
 * It keeps the entry of every claim it made, because an entry is acknowledged when its claim has been settled and not before.
 */
import type { Database } from '../../postgres/database.ts'
import type { Clock } from '../../support/clock.ts'
import type { Door, Over } from '../dispatcher.ts'
import { type ClaimedIds, claimIds } from './claim-ids.ts'
import type { Client } from './connection.ts'
import { classes, group, newsOf, streamOf } from './keys.ts'
import { blockMs, type Link } from './link.ts'
import type { Entry, RedisSource, Refused } from './redis-supply.ts'
import { runScript, type ScriptName } from './scripts.ts'
import { isGroupGone } from './trouble.ts'

export interface StreamSourceOptions {
  readonly link: Link
  readonly database: Database
  readonly clock: Clock
  readonly consumer: () => string
  readonly prefix: (pool: string) => string
  /** The groups of its streams. */
  readonly prepare: (pool: string) => Promise<void>
  /** These lanes have to be asked for in PostgreSQL. */
  readonly ask: (pool: string, lanes: readonly string[]) => void
}

interface HeldEntry extends Entry {
  readonly pool: string
  readonly fence: number
}

/** After a refusal for want of room the copy of the lane is made anew, once. */
const askAgainMs = 100
const rowsMax = 500

export class StreamSource implements RedisSource {
  readonly #options: StreamSourceOptions
  readonly #entries = new Map<number, HeldEntry>()

  constructor(options: StreamSourceOptions) {
    this.#options = options
  }

  get up(): boolean {
    return this.#options.link.up
  }

  async take(pool: string, count: number, unknownKinds: readonly string[]): Promise<Entry[]> {
    const { link, consumer, prefix, ask } = this.#options
    const [lines, more, dry] = await this.#run<[string, number, string[]]>(pool, 'take', [consumer(), count, ...unknownKinds])
    ask(pool, dry)
    if (more === 1) link.send(() => link.client.publish(newsOf(prefix(pool)), 'dry'))
    return readEntries(lines)
  }

  async adopt(pool: string, count: number, unknownKinds: readonly string[]): Promise<Entry[]> {
    return readEntries(await this.#run<string>(pool, 'adopt', [count, ...unknownKinds]))
  }

  async wait(pool: string): Promise<Entry[]> {
    const { link, consumer, prefix } = this.#options
    const client = await link.blocking(pool)
    const streams = classes.map((one) => streamOf(prefix(pool), one))
    const words = ['GROUP', group, consumer(), 'COUNT', 1, 'BLOCK', blockMs, 'STREAMS', ...streams, ...streams.map(() => '>')]
    const answer = (await client.xreadgroup(...(words as unknown as Parameters<Client['xreadgroup']>))) as
      | [string, [string, string[]][]][]
      | null
    const found = (answer ?? []).flatMap(([stream, entries]) =>
      entries.map(([entry, [, id, , rank]]) => ({
        id: Number(id),
        priorityClass: streams.indexOf(stream),
        entry,
        rank: Number(rank),
      })),
    )
    return found.length > 1 ? this.#keepFirst(pool, found) : found
  }

  /** When several streams had something already, the read brings one of each: only the first in rank is its turn. */
  async #keepFirst(pool: string, found: readonly (Entry & { rank: number })[]): Promise<Entry[]> {
    const [first, ...rest] = found.toSorted((a, b) => a.rank - b.rank)
    const rows = rest.flatMap(({ id, priorityClass, entry }) => [id, priorityClass, entry])
    const kept = await this.#run<string[]>(pool, 'give-back', rows)
    return [first as Entry, ...rest.filter(({ id }) => kept.includes(String(id)))]
  }

  async claim(pool: string, door: Door, entries: readonly Entry[]): Promise<ClaimedIds> {
    const asked = { pool, worker: door.worker(), ids: entries.map(({ id }) => id), unknownKinds: door.unknownKinds() }
    const found = await claimIds(this.#options.database, asked)
    const byId = new Map(entries.map((one) => [one.id, one]))
    for (const { id, fence } of found.claims) {
      const entry = byId.get(id)
      if (entry) this.#entries.set(id, { ...entry, pool, fence })
    }
    return found
  }

  async refuse(pool: string, refused: readonly Refused[]): Promise<void> {
    const { link, clock, ask } = this.#options
    if (refused.length === 0 || !link.up) return
    const rows = refused.flatMap(({ id, priorityClass, entry, what, ms }) => [id, priorityClass, entry, what, ms ?? ''])
    const [unknown, closed] = await this.#run<[string[], string[]]>(pool, 'refuse', rows)
    ask(pool, unknown)
    if (closed.length > 0) clock.after(askAgainMs, () => ask(pool, closed))
  }

  /** Settled, or somebody else's by now. Resolves when Redis knows. */
  async acknowledge(over: readonly Over[]): Promise<void> {
    const open = new Map<string, string[]>()
    const laned = new Map<string, (readonly (string | number)[])[]>()
    for (const { claim, verdict, said } of over) {
      const { id, fence, lane } = claim
      const held = this.#entries.get(id)
      if (held?.fence !== fence) continue
      this.#entries.delete(id)
      const { pool, priorityClass, entry } = held
      if (lane === undefined) {
        push(open, pool, `${id} ${priorityClass} ${entry}`)
        continue
      }
      const refund = verdict.outcome === 'handed back' && verdict.started === false ? '' : (said?.refund ?? 0)
      const told = [said?.remaining ?? '', said?.resetAt?.getTime() ?? '']
      push(laned, pool, [id, priorityClass, entry, lane, refund, ...told])
    }
    if (!this.#options.link.up) return
    // All are sent before the first is waited for.
    await Promise.all([
      ...inGroups(open, (pool, lines) => this.#run(pool, 'acknowledge-open', [lines.join('\n')])),
      ...inGroups(laned, async (pool, rows) =>
        this.#options.ask(pool, await this.#run<string[]>(pool, 'acknowledge', rows.flat())),
      ),
    ])
  }

  /** This process was declared dead: what it took is for whoever takes over. */
  forget(): void {
    this.#entries.clear()
  }

  async trouble(pool: string, error: unknown): Promise<void> {
    const { link, prefix, prepare } = this.#options
    if (!link.up) return
    if (!isGroupGone(error)) return link.down(error)
    try {
      await prepare(pool)
      await link.client.publish(newsOf(prefix(pool)), 'dry')
    } catch (worse) {
      link.down(worse)
    }
  }

  #run<T>(pool: string, script: ScriptName, args: readonly (string | number)[]): Promise<T> {
    return runScript<T>(this.#options.link.client, script, this.#options.prefix(pool), args)
  }
}

/** Lines of class, entry and id. */
function readEntries(lines: string): Entry[] {
  if (lines === '') return []
  return lines.split('\n').map((line) => {
    const [priorityClass, entry = '', id] = line.split(' ')
    return { id: Number(id), priorityClass: Number(priorityClass), entry }
  })
}

function push<T>(rows: Map<string, T[]>, pool: string, row: T): void {
  const others = rows.get(pool)
  if (others) others.push(row)
  else rows.set(pool, [row])
}

function inGroups<T>(
  rows: ReadonlyMap<string, readonly T[]>,
  act: (pool: string, group: readonly T[]) => Promise<unknown>,
): Promise<unknown>[] {
  return [...rows].flatMap(([pool, all]) =>
    Array.from({ length: Math.ceil(all.length / rowsMax) }, (_, at) => act(pool, all.slice(at * rowsMax, (at + 1) * rowsMax))),
  )
}
