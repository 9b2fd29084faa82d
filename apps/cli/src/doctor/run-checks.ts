/**
 * The doctor: looks at one thing after the other and goes on as far as it can. What cannot be looked at because something before it failed is left out.
 */
import { existsSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Inspect, pendingMigrations, type SeenPool, type SeenWorker } from '@sluice/engine'
import { type Config, ConfigError, isOnlooker, loadModules, systemMigrations } from '@sluice/server'
import { codeOf, exit } from '../session/exit.ts'
import type { Session } from '../session/session.ts'
import type { Call } from '../session/tree.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { pad, plainLines, wrap } from '../terminal/text.ts'
import { type Finding, judgeHealth, judgeKeys, judgeMasterKey, judgeRedis, judgeSpace } from './findings.ts'
import { judgeKinds, unknownKinds, type WaitingKind } from './judge-kinds.ts'
import { judgeModules } from './judge-modules.ts'
import { judgePools } from './judge-pools.ts'

export async function runDoctor({ session }: Call): Promise<number> {
  const checks = await examine(session)
  const failed = checks.filter(({ state }) => state === 'fail').length
  session.output.answer({ ok: failed === 0, checks }, (terminal) => checks.map((one) => render(one, terminal)).join('\n'))
  return failed === 0 ? exit.ok : exit.failure
}

async function examine(session: Session): Promise<Finding[]> {
  const read = await readOr(session)
  if ('check' in read) return [read]
  const { findings, workers } = await examineDatabase(session, read)
  return [
    { check: 'configuration', state: read.warnings.length > 0 ? 'warn' : 'ok', text: read.warnings.join(' ') || 'can be read' },
    await checkModules(read, workers),
    lookAtMasterKey(read),
    ...(read.database === undefined ? lookAtSpace(read) : []),
    ...(read.redis === undefined ? [judgeRedis(undefined)] : []),
    ...findings,
  ]
}

async function readOr(session: Session): Promise<Config | Finding> {
  try {
    return await session.config()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return {
      check: 'configuration',
      state: 'fail',
      text: error.problems.join('\n'),
      fix: 'Correct what it says; `sluice config` shows the rest.',
    }
  }
}

interface Examined {
  readonly findings: readonly Finding[]
  /** Undefined when nobody could be asked. */
  readonly workers: readonly SeenWorker[] | undefined
}

async function examineDatabase(session: Session, config: Config): Promise<Examined> {
  const findings: Finding[] = []
  const url = await reach(session, findings)
  const schema = url === undefined ? 'unusable' : await checkSchema(url, findings)
  if (schema === 'unusable') return { findings, workers: undefined }
  const { engine, access } = await session.system()
  const { inspect } = engine
  const [health, all, pools] = await Promise.all([inspect.health(), inspect.workers(), inspect.pools()])
  const workers = all.filter((one) => !isOnlooker(one))
  findings.push(...judgeHealth(health, workers, session.now()), judgePools(pools), judgeKinds(await findWaiting(inspect, pools)))
  if (config.redis !== undefined) findings.push(judgeRedis(await engine.dispatch(Object.keys(config.pools))))
  if (schema === 'whole') findings.push(judgeKeys(config.requireKeys, (await access.keys.list({ limit: 500 })).items))
  return { findings, workers }
}

async function findWaiting(inspect: Inspect, pools: readonly SeenPool[]): Promise<WaitingKind[]> {
  const served = new Set(pools.filter(({ workers }) => workers > 0).map(({ name }) => name))
  const waiting: WaitingKind[] = []
  for (const name of unknownKinds(await inspect.kinds(), served)) {
    const { items } = await inspect.jobs({ kind: name, state: ['ready'] }, { limit: 1 })
    for (const { id, pool } of items) if (served.has(pool)) waiting.push({ name, job: id })
  }
  return waiting
}

async function checkModules(config: Config, workers: readonly SeenWorker[] | undefined): Promise<Finding> {
  try {
    const { kinds, runs } = await loadModules(config)
    const all = [...kinds, ...runs.flatMap((run) => run.kinds)].map(({ kindName }) => kindName)
    return judgeModules({ modules: config.load.length, kinds: [...new Set(all)], runs: runs.length }, workers)
  } catch (error) {
    return {
      check: 'modules',
      state: 'fail',
      text: `as configured here: ${messageOf(error)}`,
      fix: 'Mend the module, or take it out of `load`.',
    }
  }
}

async function reach(session: Session, checks: Finding[]): Promise<string | undefined> {
  try {
    return (await session.system()).url
  } catch (error) {
    checks.push({
      check: 'database',
      state: 'fail',
      text: messageOf(error),
      fix: 'Start it, or say where it is with --database.',
    })
    return undefined
  }
}

/** Without the tables of the server all works but the API and its keys: a program with an engine of its own needs neither. */
async function checkSchema(url: string, checks: Finding[]): Promise<'whole' | 'engine only' | 'unusable'> {
  try {
    const [pending, engine] = await Promise.all([pendingMigrations(url, await systemMigrations()), pendingMigrations(url)])
    const lacks = `lacks ${pending.join(', ')}`
    if (engine.length > 0) {
      checks.push({ check: 'schema', state: 'fail', text: lacks, fix: 'sluice migrate' })
      return 'unusable'
    }
    if (pending.length === 0) checks.push({ check: 'schema', state: 'ok', text: 'up to date' })
    else
      checks.push({
        check: 'schema',
        state: 'warn',
        text: `${lacks}: the engine works, the HTTP API and its keys need these`,
        fix: 'sluice migrate',
      })
    return pending.length === 0 ? 'whole' : 'engine only'
  } catch (error) {
    const code = codeOf(error) ?? ''
    const isSchema = code.startsWith('SCHEMA_')
    const fix = fixes[code] ?? 'Start it, or correct the address: --database, DATABASE_URL.'
    checks.push({ check: isSchema ? 'schema' : 'database', state: 'fail', text: messageOf(error), fix })
    return 'unusable'
  }
}

const fixes: Readonly<Record<string, string>> = {
  SCHEMA_INCOMPATIBLE: 'Upgrade this program.',
  SCHEMA_CHANGED: 'Use the version of the program that this database was made with, or another database.',
  DATABASE_SETTING: 'Give Sluice a role of its own, or change the setting as it says.',
  POSTGRES_TOO_OLD: 'Upgrade PostgreSQL to 15 or newer.',
  DATABASE_REFUSED: 'Do as it says; the address is in --database or DATABASE_URL.',
  DATABASE_READ_ONLY: 'Give the address of the primary.',
}

function lookAtMasterKey({ masterKey, masterKeyFile: file }: Config): Finding {
  const mode = existsSync(file) ? statSync(file).mode : undefined
  return judgeMasterKey({ fromVariable: masterKey !== undefined, mode, file })
}

function lookAtSpace({ data }: Config): Finding[] {
  let folder = data
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder)
  const { bavail, bsize } = statfsSync(folder)
  return [judgeSpace(folder, bavail * bsize)]
}

const marks = { ok: ['green', '✓'], warn: ['yellow', '!'], fail: ['red', '✗'] } as const
const nameColumns = 14
const narrowColumns = 50

/** On a narrow terminal the text stands below the name. */
function render({ check, state, text, fix }: Finding, terminal: Terminal): string {
  const [colour, mark] = marks[state]
  const isNarrow = terminal.columns !== undefined && terminal.columns < narrowColumns
  const indent = isNarrow ? 2 : nameColumns + 3
  const room = terminal.columns === undefined ? Number.POSITIVE_INFINITY : terminal.columns - indent
  const told = plainLines(text)
    .split('\n')
    .flatMap((line) => wrap(line, room))
  const cure = fix && state !== 'ok' ? wrap(`→ ${fix}`, room).map((line) => terminal.paint('bold', line)) : []
  const head = `${terminal.paint(colour, mark)} ${isNarrow ? check : pad(check, nameColumns)}`
  const [first = '', ...rest] = [...told, ...cure].map((line) => ' '.repeat(indent) + line)
  return [isNarrow ? `${head}\n${first}` : `${head} ${first.trimStart()}`, ...rest].join('\n')
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
