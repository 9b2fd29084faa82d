/**
 * Enqueue from plain SQL: `sluice.enqueue` is a function in the database, so any language, `psql` and even a trigger can make jobs.
 *
 * A process that defines the kind has registered it with its defaults, and unknown names are refused. Options are named arguments:
 * select id, created from sluice.enqueue('kind', payload, delay => '5 minutes', priority => 10, key => 'once', owner => 'ann')
 * The id is a bigint, which `pg` gives as text: write `engine.find(Number(id))`.
 */
import { createEngine, defineKind } from '@sluice/engine'
import { findDatabase } from '@sluice/local-postgres'
import pg from 'pg'
import { z } from 'zod'

let left = 3
let last: () => void
const finished = new Promise<void>((resolve) => {
  last = resolve
})
const welcome = defineKind('member.welcome', {
  payload: z.object({ name: z.string() }),
  run({ payload }) {
    console.log(`welcome, ${payload.name}`)
    if (--left === 0) last()
  },
})

const database = await findDatabase({ env: process.env, dataFolder: '.sluice/postgres' })
const engine = createEngine({ database: database.url, kinds: [welcome] })
await engine.start()

const client = new pg.Client(database.url) // stands for a program in another language
await client.connect()
await client.query(`select sluice.enqueue('member.welcome', '{"name": "Ben"}')`)
await client.query(`select sluice.enqueue('member.welcome', '{"name": "Cleo"}', delay => '200 milliseconds')`)

// Whoever inserts a member, from wherever, makes a job: in the same transaction, without knowing of it.
await client.query(`
  create table if not exists example_member (name text);
  create or replace function example_welcome() returns trigger language plpgsql as $$
    begin
      perform sluice.enqueue('member.welcome', jsonb_build_object('name', new.name));
      return null;
    end $$;
  create or replace trigger example_welcome after insert on example_member for each row execute function example_welcome()`)
await client.query(`insert into example_member values ('Dora')`)

await client
  .query(`select sluice.enqueue('member.welcom')`)
  .catch((error: Error) => console.log(`a slip of the pen is refused: ${error.message}`))

await finished
await client.end()
await engine.stop()
await database.stop()
