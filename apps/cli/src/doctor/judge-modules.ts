/**
 * The modules of this configuration beside what live processes can run. Both are told, because they are often not the same: a process keeps what it was
 * started with, and may have been started elsewhere.
 */
import type { SeenWorker } from '@sluice/engine'
import type { Finding } from './findings.ts'

export interface Configured {
  readonly modules: number
  readonly kinds: readonly string[]
  readonly runs: number
}

const namesMax = 5
/** What every process of the server knows. */
const builtIn = /^(?:sluice|collector|github)\./

/** `workers` is undefined where the database could not be asked. */
export function judgeModules(here: Configured, workers: readonly SeenWorker[] | undefined): Finding {
  const text =
    here.modules === 0
      ? 'none as configured here'
      : `${count(here.kinds.length, 'kind')} and ${count(here.runs, 'run')} as configured here`
  if (!workers) return { check: 'modules', state: 'ok', text }
  const live = workers.filter(({ state }) => state !== 'lost')
  if (live.length === 0) return { check: 'modules', state: 'ok', text: `${text}; no process runs to compare with` }
  const known = new Set(live.flatMap(({ kinds }) => kinds).filter((name) => !builtIn.test(name)))
  const missing = here.kinds.filter((name) => !known.has(name))
  const others = [...known].filter((name) => !here.kinds.includes(name)).toSorted()
  if (missing.length > 0)
    return {
      check: 'modules',
      state: 'warn',
      text: `${text}; no live process knows ${names(missing)}`,
      fix: 'Start the processes again with this configuration; `sluice kinds list` shows who can run what.',
    }
  if (others.length > 0) return { check: 'modules', state: 'ok', text: `${text}; live processes also know ${names(others)}` }
  return { check: 'modules', state: 'ok', text: known.size === 0 ? text : `${text}; live processes know them` }
}

function count(many: number, noun: string): string {
  return `${many} ${noun}${many === 1 ? '' : 's'}`
}

function names(all: readonly string[]): string {
  const left = all.length - namesMax
  return left > 0 ? `${all.slice(0, namesMax).join(', ')} and ${left} more` : all.join(', ')
}
