/**
 * The ground that everyone runs on: the servers of this run, and a fresh place on them for each contender and round.
 */
import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import type { Place } from './contenders/contender.ts'
import { contenderNamed, type Entry, roster } from './contenders/roster.ts'
import { type Database, type Postgres, startPostgres, within } from './servers/postgres.ts'
import { startRedis } from './servers/redis.ts'

export interface FreshPlace extends Place {
  readonly database: Database
  /** Brings the planner's statistics up to date and the checkpoint behind us: what comes next starts from rest. */
  settle(): Promise<void>
  drop(): Promise<void>
}

export interface Ground {
  readonly postgres: Postgres
  readonly versions: Record<string, string>
  /** Those of the roster that can run here. */
  readonly entries: readonly Entry[]
  freshPlace(copyOf?: Database): Promise<FreshPlace>
  /** A fresh place with this contender's empty tables in it, copied from a database that was prepared once. */
  preparedPlace(contender: string): Promise<FreshPlace>
  stop(): Promise<void>
}

export interface Wanted {
  readonly redis: boolean
  /** Whether contenders with default settings take part. */
  readonly defaults: boolean
}

export async function prepareGround(wanted: Wanted): Promise<Ground> {
  const postgres = await startPostgres()
  const redis = wanted.redis ? await startRedis() : undefined
  if (wanted.redis && !redis) console.error('bench: redis-server is not here, so BullMQ on Redis does not take part')
  const prepared = new Map<string, Database>()

  async function freshPlace(copyOf?: Database): Promise<FreshPlace> {
    await redis?.empty()
    const database = copyOf ? await postgres.copyDatabase(copyOf) : await postgres.createDatabase()
    return {
      database,
      databaseUrl: database.url,
      redisSocket: redis?.socket ?? null,
      async settle() {
        await within(database.url, (client) => client.query('analyze'))
        await postgres.ask('checkpoint')
      },
      drop: () => database.drop(),
    }
  }

  async function preparedPlace(contender: string): Promise<FreshPlace> {
    let source = prepared.get(contender)
    if (!source) {
      const place = await freshPlace()
      const session = (await contenderNamed(contender)).open(place)
      await session.prepare()
      await session.close()
      source = place.database
      prepared.set(contender, source)
    }
    return freshPlace(source)
  }

  return {
    postgres,
    versions: { ...libraryVersions(), postgresql: postgres.version, redis: redis?.version ?? 'none' },
    entries: roster.filter(({ store, settings }) => (store === 'postgres' || redis) && (settings === 'tuned' || wanted.defaults)),
    freshPlace,
    preparedPlace,
    async stop() {
      await redis?.stop()
      await postgres.stop()
    },
  }
}

function libraryVersions(): Record<string, string> {
  const { dependencies } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8')) as {
    dependencies: Record<string, string>
  }
  return {
    ...dependencies,
    node: process.versions.node,
    cores: String(cpus().length),
    processor: cpus()[0]?.model.trim() ?? 'unknown',
  }
}
