/**
 * The stage: looks at the database a few times a second, puts together what is seen and what was heard, and shows it.
 */
import type { Collector, Progress, UserStatistics } from '@sluice/collector'
import type { GithubSim } from '@sluice/github-sim'
import { Client } from 'pg'
import type { Crew, CrewNews } from './crew.ts'
import type { groups, Happening, PersonRow, Scene, Tone } from './frame.ts'
import { jobs } from './ink.ts'
import { floor, limit, people } from './people.ts'
import { countProof, type Proof } from './proof.ts'
import type { Screen } from './screen.ts'

interface Person {
  readonly login: string
  readonly progress: Progress | undefined
  readonly refused: boolean
  readonly statistics: UserStatistics | undefined
}

const look = `
  select split_part(w.name, ':', -1) as pid, count(*)::int as held
  from sluice.job j join sluice.worker w on w.id = j.worker
  group by 1`

export interface StageParts {
  readonly database: string
  readonly screen: Screen
  readonly sim: GithubSim
  readonly collector: Collector
  readonly words: { readonly title: string; readonly subtitle: string }
}

export class Stage {
  readonly #parts: StageParts
  readonly #client: Client
  readonly #startMs = performance.now()
  readonly #happenings: Happening[] = []
  readonly #limited = new Set<string>()
  readonly #ids = new Map<string, number>()
  #people: Person[] = people.map(({ login }) => ({ login, progress: undefined, refused: false, statistics: undefined }))
  #held: Readonly<Record<string, number>> = {}
  #crew: Crew | undefined
  proof: Proof | undefined
  footer: readonly string[] = []

  constructor(parts: StageParts) {
    this.#parts = parts
    this.#client = new Client({ connectionString: parts.database, application_name: 'demo stage' })
    this.#client.on('error', () => {})
  }

  get elapsedMs(): number {
    return performance.now() - this.#startMs
  }

  /** Everybody has this many completed collections. */
  async areDone(times: number): Promise<boolean> {
    const { rows } = await this.#client.query<{ done: number }>(
      `select count(*)::int as done from sluice.run where kind = 'collector.collect' and state = 'completed'`,
    )
    return (rows[0]?.done ?? 0) >= times * people.length
  }

  async open(crew: Crew): Promise<void> {
    this.#crew = crew
    await this.#client.connect()
  }

  /** From now on this person is shown with what is collected of them. */
  admit(login: string, id: number): void {
    this.#ids.set(login, id)
  }

  /** The share of a person's known jobs that is done. */
  shareOf(login: string): number {
    const kinds = this.#people.find((one) => one.login === login)?.progress?.kinds ?? []
    const total = kinds.reduce((sum, one) => sum + one.total, 0)
    return total === 0 ? 0 : kinds.reduce((sum, one) => sum + one.done, 0) / total
  }

  isRefused(login: string): boolean {
    return this.#people.some((one) => one.login === login && one.refused)
  }

  say(text: string, tone: Tone = 'plain'): void {
    this.#happenings.push({ atMs: this.elapsedMs, text, tone })
  }

  /** What processes say, in words for the audience; what only matters to operators is left out. */
  hear({ number, event, fields }: CrewNews): void {
    const them = (fields['workers'] as string[] | undefined)?.map((name) => `up ${this.#crew?.numberOf(pidIn(name)) ?? name}`)
    switch (event) {
      case 'leading':
        return this.say(`up ${number} leads, term ${String(fields['term'])}`)
      case 'job rescued': {
        const rescued = Number(fields['rescued'])
        if (rescued === 0) return
        return this.say(
          `${jobs(rescued)} that ${them?.join(', ') || 'a lost process'} held ${rescued === 1 ? 'is' : 'are'} rescued`,
          'good',
        )
      }
      case 'stopped':
        return this.say(`up ${number} has ended its jobs and left`, 'good')
      case 'started again':
        return this.say(`up ${number} is started again`)
      case 'died':
        return this.say(`up ${number} died: ${String(fields['how'])}`, 'bad')
    }
  }

  /** How many jobs the database says a process holds. */
  async heldBy(number: number): Promise<number> {
    const { rows } = await this.#client.query<{ pid: string; held: number }>(look)
    const pid = this.#crew?.members.find((member) => member.number === number)?.pids.at(-1)
    return rows.find((row) => row.pid === String(pid))?.held ?? 0
  }

  async refresh(): Promise<void> {
    const { rows } = await this.#client.query<{ pid: string; held: number }>(look)
    this.#held = Object.fromEntries(rows.map(({ pid, held }) => [pid, held]))
    this.#people = await Promise.all(this.#people.map((one) => this.#lookAt(one)))
    this.#parts.screen.show(this.#scene())
  }

  get scores(): string {
    return this.#people.map(({ login, statistics }) => `${login} ${statistics?.score.toFixed(0) ?? '–'}`).join(', ')
  }

  async prove(): Promise<Proof> {
    this.proof = await countProof(this.#client, this.#parts.sim, this.#ids)
    return this.proof
  }

  async close(): Promise<void> {
    await this.#client.end()
  }

  async #lookAt(person: Person): Promise<Person> {
    const id = this.#ids.get(person.login)
    if (id === undefined) return person
    const { collector } = this.#parts
    const [progress, user] = await Promise.all([collector.progress(id), collector.users.find(id)])
    const ended = progress?.run.state === 'completed'
    const statistics = ended ? await collector.statistics.user(id) : undefined
    if (isLimited(progress) && !this.#limited.has(person.login)) {
      this.#limited.add(person.login)
      this.say(`${person.login}'s budget is used up: its lane waits, the others go on`, 'warn')
    }
    return { ...person, progress, statistics, refused: user?.tokenState === 'refused' }
  }

  #scene(): Scene {
    return {
      ...this.#parts.words,
      elapsedMs: this.elapsedMs,
      people: this.#people.map(rowOf),
      processes: (this.#crew?.members ?? []).map(({ number, pids, condition, leads, done }) => {
        const pid = pids.at(-1) ?? 0
        return { number, pid, condition, leads, done, held: this.#held[pid] ?? 0 }
      }),
      happenings: this.#happenings,
      proof: this.proof,
      footer: this.footer,
    }
  }
}

function rowOf({ login, progress, refused, statistics }: Person): PersonRow {
  const [mood, note] = moodOf({ progress, refused, statistics })
  const known = progress?.quota.flatMap(({ remaining }) => (remaining === null ? [] : [remaining])) ?? []
  return {
    login,
    bars: barsOf(progress),
    quota: known.length > 0 ? { remaining: Math.min(...known), limit } : undefined,
    mood,
    note,
  }
}

function moodOf({ progress, refused, statistics }: Omit<Person, 'login'>): [PersonRow['mood'], string] {
  if (refused) return ['refused', 'token refused']
  if (statistics) return ['done', `score ${statistics.score.toFixed(1)}`]
  if (!progress) return ['waiting', 'waits']
  if (isLimited(progress)) return ['limited', 'waits for budget']
  return ['collecting', progress.run.state === 'finalizing' ? 'counts the score' : 'collects']
}

function isLimited(progress: Progress | undefined): boolean {
  const isHeld = (until: Date | null): boolean => until !== null && until.getTime() > Date.now()
  return progress?.quota.some(({ remaining, holdUntil }) => (remaining ?? limit) <= floor || isHeld(holdUntil)) ?? false
}

/** Kinds as the audience knows them: commits, issues and pull requests; all else finds out what there is. */
function barsOf(progress: Progress | undefined): PersonRow['bars'] {
  const sums = Object.fromEntries(
    (['discovery', 'commits', 'issues', 'pulls'] satisfies (typeof groups)[number][]).map((group) => [
      group,
      { done: 0, total: 0 },
    ]),
  ) as Record<(typeof groups)[number], { done: number; total: number }>
  for (const { kind, done, total } of progress?.kinds ?? []) {
    const sum = sums[/pull/.test(kind) ? 'pulls' : /issue/.test(kind) ? 'issues' : /commit/.test(kind) ? 'commits' : 'discovery']
    sum.done += done
    sum.total += total
  }
  return sums
}

const pidIn = (name: string): number => Number(name.slice(name.lastIndexOf(':') + 1))
