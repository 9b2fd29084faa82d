/**
 * Careless tester: a program that starts a test server and ends without stopping it.
 */
import { withClient } from '../server/connection.ts'
import { startTestServer } from '../testing/test-server.ts'

const { url, socketFolder } = await startTestServer()
const pid = await withClient(url, async (client) => {
  const answer = await client.query<{ pid: number }>(`select split_part(pg_read_file('postmaster.pid'), e'\\n', 1)::int as pid`)
  return answer.rows[0]?.pid
})
process.send?.({ pid, socketFolder }, () => process.exit())
