/**
 * A database that cannot be used says why, in words that tell what to do: wrong address, nobody there, wrong role, password or database,
 * read-only, or a schema that this engine does not understand. `start`, `enqueue` and `migrate` all say the same.
 */
import { createServer, type Socket } from 'node:net'
import { createEngine, defineKind, type Engine, type ErrorCode, migrate, SluiceError, silentLog } from '@sluice/engine'
import { startTestServer, type TestServer } from '@sluice/local-postgres/testing'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject } from 'vitest'
import { explainConnect } from '#engine/postgres/connect'
import { eventually, test } from '../support/database.ts'

const note = defineKind('note', { run: () => {} })

/** What every way in answers for this address; all of them must be errors of ours. */
async function refusals(database: string): Promise<SluiceError[]> {
  const engine = (act: (made: Engine) => Promise<unknown>) => async () => {
    const made = createEngine({ database, kinds: [note], log: silentLog })
    try {
      await act(made)
    } finally {
      await made.stop()
    }
  }
  const ways = [() => migrate(database), engine((made) => made.start()), engine((made) => made.enqueue(note({})))]
  return Promise.all(
    ways.map(async (way) => {
      const error: unknown = await way().catch((thrown: unknown) => thrown)
      if (error instanceof SluiceError) return error
      throw error instanceof Error ? error : new Error('it was accepted')
    }),
  )
}

async function expectRefusals(database: string, code: ErrorCode, message: RegExp): Promise<void> {
  for (const error of await refusals(database)) {
    expect(error.code).toBe(code)
    expect(error.message).toMatch(message)
  }
}

const altered = (url: string, change: (url: URL) => void): string => {
  const other = new URL(url)
  change(other)
  return other.href
}

/** A port on which `serve` answers, until the test is over. */
async function listen(serve: (socket: Socket) => void) {
  const server = createServer(serve)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return { port, [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())) }
}

describe('an address is refused', () => {
  test.for([
    ['that is empty', ''],
    ['that is no URL', 'my database'],
    ['that is a connection string of another kind', 'host=localhost dbname=app'],
    ['of another scheme', 'mysql://localhost/app'],
    ['of the web', 'https://localhost/app'],
    ['whose port is no number', 'postgresql://localhost:port/app'],
  ] as const)('%s', async ([_what, address]) => {
    const code = address === '' ? 'INVALID_OPTION' : 'DATABASE_URL_INVALID'
    expect(() => createEngine({ database: address })).toThrow(expect.objectContaining({ code }))
    await expect(migrate(address)).rejects.toMatchObject({
      code: 'DATABASE_URL_INVALID',
      message: expect.stringContaining('postgresql://user:password@host:5432/database'),
    })
  })

  test('that has a password is not repeated in the error', async () => {
    const error = await migrate('mysql://user:secret@localhost/app').catch((thrown: unknown) => thrown)
    expect(String(error)).not.toContain('secret')
  })
})

describe('nobody answers', () => {
  test('on a port where nobody listens', async () => {
    // The first port of all is given to nobody who asks for any.
    await expectRefusals('postgresql://localhost:1/app', 'DATABASE_UNREACHABLE', /ECONNREFUSED.*Check that it runs/)
  })

  test('in a socket folder that is not there', async () => {
    const folder = encodeURIComponent('./no/such/folder')
    await expectRefusals(`postgresql://localhost/app?host=${folder}`, 'DATABASE_UNREACHABLE', /Check that it runs/)
  })

  test('where the host has no name', async () => {
    await expectRefusals('postgresql://nobody.invalid/app', 'DATABASE_UNREACHABLE', /nobody\.invalid.*host, port/)
  })

  test('where something hangs up', async () => {
    await using door = await listen((socket) => socket.destroy())
    await expectRefusals(`postgresql://127.0.0.1:${door.port}/app`, 'DATABASE_UNREACHABLE', /host, port/)
  })

  test('where something speaks another language', async () => {
    await using door = await listen(
      (socket) =>
        void socket
          .on('error', () => {})
          .resume()
          .end('HTTP/1.1 400 Bad Request\r\n\r\n'),
    )
    await expectRefusals(`postgresql://127.0.0.1:${door.port}/app`, 'DATABASE_UNREACHABLE', /host, port/)
  })

  test('in TLS', () => {
    const error = new Error('The server does not support SSL connections')
    expect(explainConnect(error)).toMatchObject({ code: 'DATABASE_REFUSED', message: expect.stringMatching(/Switch TLS on/) })
  })

  test('and is told so once', () => {
    const told = explainConnect(new Error('timeout expired'))
    expect(explainConnect(told)).toBe(told)
  })

  test('in time', () => {
    for (const words of ['timeout expired', 'timeout exceeded when trying to connect'])
      expect(explainConnect(new Error(words))).toMatchObject({ code: 'DATABASE_UNREACHABLE' })
  })
})

describe('the server says no', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startTestServer()
    const client = new pg.Client(server.url)
    await client.connect()
    await client.query(`create role stranger login password 'right'`)
    const { rows } = await client.query<{ file: string }>(`select current_setting('hba_file') as file`)
    const file = client.escapeLiteral(rows[0]!.file)
    await client.query(`copy (values ('local all stranger scram-sha-256'), ('local all all trust')) to ${file}`)
    await client.query('select pg_reload_conf()')
    await eventually(async () => (await client.query('select from pg_hba_file_rules')).rowCount === 2)
    await client.end()
    // The server reads its rules again a moment after it was told.
    await eventually(() => refusals(as('stranger', 'wrong')).then((all) => all.every((one) => one.message.includes('password'))))
  })
  afterAll(() => server.stop())

  const as = (user: string, password: string, name = 'postgres') =>
    altered(server.url, (url) => {
      url.username = user
      url.password = password
      url.pathname = `/${name}`
    })

  test('to a role that is not there', () =>
    expectRefusals(as('nobody', ''), 'DATABASE_REFUSED', /role "nobody" does not exist.*user, password/))

  test('to a wrong password', () =>
    expectRefusals(as('stranger', 'wrong'), 'DATABASE_REFUSED', /password authentication failed.*"stranger"/))

  test('to a missing password', () => expectRefusals(as('stranger', ''), 'DATABASE_REFUSED', /password/))

  test('to a database that is not there', () =>
    expectRefusals(as('sluice', '', 'nowhere'), 'DATABASE_REFUSED', /"nowhere" does not exist.*database name/))

  test('to a role that may not make the schema', () =>
    expectRefusals(as('stranger', 'right'), 'DATABASE_REFUSED', /permission denied.*Give the role this right/))
})

describe('the database is there and not usable', () => {
  const client = async (url: string, ...statements: string[]) => {
    const one = new pg.Client(url)
    await one.connect()
    for (const statement of statements) await one.query(statement)
    await one.end()
  }

  test('because no connection is left for the role', async ({ database }) => {
    await client(database.url, `create role crowded login connection limit 0`)
    try {
      await expectRefusals(
        altered(database.url, (url) => void (url.username = 'crowded')),
        'DATABASE_REFUSED',
        /too many connections for role.*Raise the limit/,
      )
    } finally {
      await client(database.url, 'drop role crowded')
    }
  })

  test('because it cannot store every text', async ({ database }) => {
    const name = `latin_${new URL(database.url).pathname.slice(1)}`
    await client(inject('serverUrl'), `create database ${name} encoding 'LATIN1' locale 'C' template template0`)
    try {
      await expectRefusals(
        altered(database.url, (url) => void (url.pathname = `/${name}`)),
        'DATABASE_REFUSED',
        /its encoding is LATIN1.*encoding 'UTF8' template template0/,
      )
    } finally {
      await client(inject('serverUrl'), `drop database ${name} with (force)`)
    }
  })

  test('because it is read-only', async ({ database }) => {
    const name = new URL(database.url).pathname.slice(1)
    await client(inject('serverUrl'), `alter database ${name} set default_transaction_read_only = on`)
    await expectRefusals(database.url, 'DATABASE_READ_ONLY', /read-only.*primary/)
  })

  test.for([
    ['DateStyle', "'German'", 'ISO'],
    ['default_transaction_isolation', 'serializable', "'read committed'"],
    ['array_nulls', 'off', 'on'],
    ['extra_float_digits', '-5', '1'],
    ['statement_timeout', "'20ms'", '0'],
    ['lock_timeout', "'20ms'", '0'],
  ])('because it has %s = %s for the role', async ([setting, value, cure], { database }) => {
    const name = new URL(database.url).pathname.slice(1)
    await client(inject('serverUrl'), `alter database ${name} set ${setting} = ${value}`)
    await expectRefusals(database.url, 'DATABASE_SETTING', new RegExp(`${setting} = .*alter role ".+" set ${setting} = ${cure}`))
  })

  test('because its schema needs a newer engine', async ({ database }) => {
    await client(database.url, `insert into sluice.migration values ('engine', 9999, '9999_future.sql', 'digest', 9999)`)
    await expectRefusals(database.url, 'SCHEMA_INCOMPATIBLE', /9999.*Upgrade this process/)
  })

  test('because a migration was changed', async ({ database }) => {
    await client(database.url, `update sluice.migration set digest = 'other' where number = 2`)
    await expectRefusals(database.url, 'SCHEMA_CHANGED', /0002_.*Restore the file/)
  })

  test('and once it is, the same engine goes on', async ({ database, engines }) => {
    const engine = engines({ kinds: [note] })
    await client(database.url, `insert into sluice.migration values ('engine', 9999, '9999_future.sql', 'digest', 9999)`)
    await expect(engine.enqueue(note({}))).rejects.toMatchObject({ code: 'SCHEMA_INCOMPATIBLE' })
    await client(database.url, 'delete from sluice.migration where number = 9999')
    expect(await engine.enqueue(note({}))).toMatchObject({ created: true })
  })
})
