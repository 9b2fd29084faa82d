/** Calls of named statements: what goes out comes back, described once, and trouble stays with the call that has it. */
import pg from 'pg'
import { expect } from 'vitest'
import { test } from '../../../../test/support/database.ts'
import { call } from './call.ts'
import { isConnectionLoss } from './transient.ts'

const types: pg.CustomTypesConfig = { getTypeParser: pg.types.getTypeParser }
const echo = {
  name: 'echo',
  text: 'select $1::text, $2::int, $3::bool, $4::text[], $5::timestamptz, $6::jsonb, $7::timestamptz[], $8::text',
}

test('every sort of value arrives as it was sent, the first time and the next', async ({ client }) => {
  const at = new Date('2026-02-28T23:59:59.999Z')
  const words = ['plain', 'with "quotes"', 'back\\slash', '{braces, commas}', '', 'null', 'ä💥', null]
  const values = ['text', 42, false, words, at, { deep: [1, '"'] }, [at, null], null]
  for (let time = 1; time <= 2; time++) expect(await call(client, echo, values, types)).toEqual([values])
  expect(await call(client, echo, ['', 0, true, [], at, null, [], undefined], types)).toEqual([
    ['', 0, true, [], at, null, [], null],
  ])
})

test('the server describes the columns of a statement once for each connection', async ({ client, database }) => {
  const described: string[] = []
  const watch = (name: string, { connection }: pg.Client): void =>
    void connection.on('rowDescription', () => described.push(name))
  const other = new pg.Client({ connectionString: database.url })
  await other.connect()
  watch('one', client)
  watch('other', other)
  const two = { name: 'two', text: 'select 2' }
  for (const one of [client, client, other, other]) expect(await call(one, two, [], types)).toEqual([[2]])
  await other.end()
  expect(described).toEqual(['one', 'other'])
})

test('a statement that fails says so, and the connection goes on, with it and with others', async ({ client }) => {
  const divide = { name: 'divide', text: 'select 10 / $1::int' }
  await expect(call(client, divide, [0], types)).rejects.toMatchObject({ code: '22012' })
  expect(await call(client, divide, [5], types)).toEqual([[2]])
  await expect(call(client, divide, ['five'], types)).rejects.toMatchObject({ code: '22P02' })
  const slip = { name: 'slip', text: 'selec 1' }
  for (let time = 1; time <= 2; time++) await expect(call(client, slip, [], types)).rejects.toMatchObject({ code: '42601' })
  expect(await call(client, divide, [2], types)).toEqual([[5]])
})

test('a value that cannot be read fails its call only', async ({ client }) => {
  const unreadable: pg.CustomTypesConfig = {
    getTypeParser: (() => () => {
      throw new Error('unreadable')
    }) as never,
  }
  const three = { name: 'three', text: 'select n from generate_series(1, 3) as n' }
  await expect(call(client, three, [], unreadable)).rejects.toThrow('unreadable')
  expect(await call(client, { ...three, name: 'four' }, [], types)).toEqual([[1], [2], [3]])
})

test('[E-27] a call whose connection breaks or stays silent for too long ends', async ({ client, database }) => {
  const sleep = { name: 'sleep', text: 'select pg_sleep(60)' }
  const doomed = new pg.Client({ connectionString: database.url })
  doomed.on('error', () => {})
  await doomed.connect()
  const [row] = await call<[number]>(doomed, { name: 'pid', text: 'select pg_backend_pid()' }, [], types)
  const sleeping = call(doomed, sleep, [], types)
  const ended = expect(sleeping).rejects.toMatchObject({ code: '57P01' })
  await client.query('select pg_terminate_backend($1)', [row?.[0]])
  await ended
  // Who notices first, the driver or the socket, is a matter of chance; that the connection is gone has to be plain either way.
  await expect(call(doomed, sleep, [], types)).rejects.toSatisfy(isConnectionLoss)

  const impatient = new pg.Client({ connectionString: database.url, query_timeout: 50 })
  impatient.on('error', () => {})
  await impatient.connect()
  await expect(call(impatient, sleep, [], types)).rejects.toThrow('Query read timeout')
  impatient.connection.stream.destroy()
})
