/**
 * Writes packages/engine/schema.sql: what all migrations together make, for people to read and for `golden-schema.test.ts`
 * to compare. Run it by `npm run schema` after adding a migration, and read the difference before committing it.
 */
import { writeFile } from 'node:fs/promises'
import { migrate } from '@sluice/engine'
import { startTestServer } from '@sluice/local-postgres/testing'
import { Client } from 'pg'
import { describeSchema } from './describe-schema.ts'

const golden = new URL('../../packages/engine/schema.sql', import.meta.url)

const server = await startTestServer()
const database = await server.createDatabase()
const client = new Client({ connectionString: database.url })
try {
  await migrate(database.url)
  await client.connect()
  await writeFile(golden, await describeSchema(client))
  console.log('wrote packages/engine/schema.sql')
} finally {
  await client.end()
  await server.stop()
}
