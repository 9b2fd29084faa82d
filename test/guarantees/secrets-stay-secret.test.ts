/**
 * Secrets stay secret: keys, session tokens, master keys and the values of secrets are used in every way there is, by jobs that fail with them too, while
 * PostgreSQL logs every statement with its parameters. Afterwards they are looked for in every row of every table, in our log, in every answer and error, and in
 * PostgreSQL's own log: as they are, in hex, URL-encoded, and in base64 wherever it may begin. Answers of the HTTP API and the metrics are among what is looked through.
 */
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { inspect } from 'node:util'
import { collectorParts } from '@sluice/collector'
import { createEngine, defineKind, type Engine, generateMasterKey, KeyRing, type Log, once } from '@sluice/engine'
import { startTestServer } from '@sluice/local-postgres/testing'
import pg from 'pg'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { Access } from '../../apps/server/src/access/access.ts'
import { createHttp } from '../../apps/server/src/http/app.ts'
import { serverMigrations } from '../../apps/server/src/migrations.ts'
import { createTelemetry } from '../../apps/server/src/telemetry/telemetry.ts'
import { ask, bearer } from '../support/access-scene.ts'
import { eventually } from '../support/database.ts'

const value = 'correct/horse+battery? staple ü'
const [first, second] = [generateMasterKey(), generateMasterKey()]
const asText = (thing: unknown) => inspect(thing, { depth: null, showHidden: true, maxStringLength: null, maxArrayLength: null })

/** A form of the secret that cannot be there by chance. */
function formsOf(secret: string, bytes = Buffer.from(secret)): string[] {
  const base64 = [0, 1, 2].map((before) =>
    Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .slice(4, -4),
  )
  return [
    secret,
    bytes.toString('hex'),
    encodeURIComponent(secret),
    ...base64,
    ...base64.map((form) => form.replaceAll('+', '-').replaceAll('/', '_')),
  ]
}

/** The API as it is used, and as it is misused: keys where they do not belong. */
async function askEverything(app: Awaited<ReturnType<typeof createHttp>>, key: string, job: number) {
  const headers = { authorization: `Bearer ${key}` }
  const nouns = ['jobs', 'runs', 'lanes', 'owners', 'pools', 'kinds', 'workers', 'leader', 'schedules', 'published']
  const looks = [...nouns, 'dead-letters', 'overview', 'keys', 'audit'].map((noun) => `/api/${noun}`)
  const ofJob = ['', '/attempts', '/log', '/why'].map((part) => `/api/jobs/${job}${part}`)
  const strays = [`/api/jobs/${key}`, `/api/jobs?nonsense=${key}`, `/${key}`]
  const answers = []
  for (const url of [...looks, ...ofJob, '/metrics', '/readyz', '/openapi.json', ...strays])
    answers.push(await app.inject({ url, headers }))
  for (const given of [key, `${key}x`])
    answers.push(await app.inject({ method: 'POST', url: '/api/session', payload: { key: given } }))
  answers.push(await app.inject({ url: '/api/jobs', headers: { authorization: `Bearer ${key.slice(0, -1)}` } }))
  answers.push(
    await app.inject({ method: 'POST', url: '/api/jobs', headers, payload: { kind: 'careless', payload: { secret: 7 } } }),
  )
  answers.push(
    await app.inject({
      method: 'POST',
      url: `/api/jobs/${job}/retry`,
      headers: { ...headers, 'content-type': 'application/json' },
    }),
  )
  await app.close()
  return answers
}

test('[O-10] no key, token or secret is in any row, log line, answer or error, nor in the log of PostgreSQL', async () => {
  const server = await startTestServer({
    settings: { log_statement: 'all', log_parameter_max_length: '-1', log_parameter_max_length_on_error: '-1' },
  })
  const database = await server.createDatabase()
  const client = new pg.Client(database.url)
  const seen: string[] = []
  const say = (...said: unknown[]) => void seen.push(asText(said))
  const log: Log = { debug: say, info: say, warn: say, error: say, jobs: true }
  const engines: Engine[] = []
  const telemetry = createTelemetry({ level: 'debug', destination: { write: (line: string) => void seen.push(line) } })
  try {
    await client.connect()
    const careless = defineKind('careless', {
      payload: z.object({ secret: z.string() }),
      retry: once,
      async run({ payload }) {
        const opened = await engine.secrets.open(payload.secret)
        seen.push(asText(opened))
        throw Object.assign(new Error(`refused with ${opened as unknown as string}`, { cause: opened }), { opened })
      },
    })
    const make = (keys: string) => {
      const made = createEngine({
        database: database.url,
        kinds: [careless],
        migrations: [serverMigrations],
        log,
        observe: telemetry.observer,
        secrets: KeyRing.fromText(keys),
      })
      engines.push(made)
      return made
    }
    const engine = make(first)
    await engine.start()
    const access = new Access(engine, { requireKeys: true })

    const key = await access.keys.create({ name: 'deploy', role: 'admin' })
    const signedIn = await access.signIn(key.text.reveal(), ask())
    const token = 'cookie' in signedIn ? (/=([\w-]+)/.exec(signedIn.cookie)?.[1] ?? '') : ''
    seen.push(asText([key, await access.keys.list(), await access.authenticate(ask(bearer(key.text.reveal())))]))
    seen.push(
      asText([
        await access.authenticate(ask({ cookie: `sluice=${token}` })),
        await access.signOut(ask({ cookie: `sluice=${token}` })),
      ]),
    )
    await access.audit.record({
      address: '127.0.0.1',
      action: 'jobs.enqueue',
      detail: { body: { password: value, key: key.text.reveal() } },
      outcome: 'failed',
    })

    await engine.secrets.put('github', value)
    const { id } = await engine.enqueue(careless({ secret: 'github' }))
    await eventually(async () => (await engine.find(id))?.attempt === 1 && (await engine.attempts(id)).length > 0)
    seen.push(asText([await engine.find(id), await engine.attempts(id), await engine.secrets.list()]))
    const answers = await askEverything(
      await createHttp({ engine, collector: collectorParts({ daily: false }).open(engine), access, telemetry }),
      key.text.reveal(),
      id,
    )
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(expect.arrayContaining([200, 401, 422]))
    // The cookie is the one thing that an answer has to give away, and only its header does.
    seen.push(...answers.map(({ body }) => body))
    const rotating = make(`${second},${first}`)
    seen.push(asText(await rotating.secrets.rotate()))
    await access.keys.revoke(key.id)
    const troubles = [
      () => access.authenticate(ask(bearer(key.text.reveal()))),
      () => access.signIn(`${key.text.reveal()}x`, ask()),
      () => engine.secrets.open('github'),
      () => rotating.secrets.put('github\0', value),
      () => rotating.secrets.put('github', value.repeat(10_000)),
      () =>
        rotating.secrets.put('github', value, {
          client: { query: (text: string, values: unknown[]) => client.query(`${text} oops`, values) },
        }),
      async () => KeyRing.fromText(`${first},${first}`),
    ]
    for (const trouble of troubles) seen.push(asText(await trouble().catch((error: unknown) => error)))

    const { rows } = await client.query(
      `select query_to_xml(format('select * from sluice.%I', tablename), true, false, '')::text as rows from pg_tables where schemaname = 'sluice'`,
    )
    const [{ data_directory: data }] = (await client.query('show data_directory')).rows as [{ data_directory: string }]
    const everywhere = {
      tables: rows.map((row) => row.rows).join('\n'),
      seen: seen.join('\n'),
      postgres: await readFile(join(dirname(data), 'server.log'), 'utf8'),
    }
    // The nets are not empty: what was sealed and whom it belongs to is in them.
    expect(everywhere.postgres).toMatch(/v1\.[0-9a-f]{12}\./)
    expect(everywhere.postgres).toContain('oops')
    expect(everywhere.tables).toContain(key.id)
    expect(everywhere.tables).toContain('refused with [redacted]')
    expect(everywhere.seen).toContain('[redacted]')
    const secrets = {
      value: formsOf(value),
      key: formsOf(key.text.reveal().slice(-43)),
      token: formsOf(token),
      first: formsOf(first, Buffer.from(first, 'base64')),
      second: formsOf(second, Buffer.from(second, 'base64')),
    }
    for (const [place, text] of Object.entries(everywhere))
      for (const [name, forms] of Object.entries(secrets))
        for (const form of forms) expect(text.includes(form), `${name} in ${place} as ${form}`).toBe(false)
    expect(token).toHaveLength(43)
  } finally {
    await Promise.all(engines.map((one) => one.stop()))
    await client.end()
    await server.stop()
  }
})
