/**
 * A connection that asks what is left, the same for every contender on PostgreSQL. Its questions start with an index, since
 * right after a drain a table scan would wade through everything that has just been finished.
 */
import { Pool } from 'pg'

export function observe(databaseUrl: string) {
  const pool = new Pool({
    connectionString: databaseUrl,
    max: 1,
    options: '-c enable_seqscan=off',
    application_name: 'bench observer',
  })
  pool.on('error', () => {})
  return {
    pool,
    async count(from: string): Promise<number> {
      const { rows } = await pool.query<{ count: number }>(`select count(*)::int as count from ${from}`)
      return rows[0]?.count ?? 0
    },
    async none(...from: string[]): Promise<boolean> {
      const nothing = from.map((each) => `not exists (select from ${each})`).join(' and ')
      const { rows } = await pool.query<{ none: boolean }>(`select ${nothing} as none`)
      return rows[0]?.none ?? false
    },
    close: () => pool.end(),
  }
}
