/**
 * The stage: looks at the database five times a second, puts together what is seen and what was heard, and shows it.
 */
import { Client } from 'pg'
import type { Crew, CrewNews, Member } from './crew.ts'
import type { Happening, Scene, TenantRow, Tone, WorkerRow } from './frame.ts'
import { jobs } from './ink.ts'
import { countProof, type Proof } from './proof.ts'
import type { Screen } from './screen.ts'
import { plannedJobs } from './shop.ts'
import { laneOf, type TariffServer, tenants } from './tenants.ts'

interface Sample {
  readonly scheduled: number
  readonly ready: number
  readonly running: number
  readonly done: number
  readonly promised: number
  readonly doneBy: Readonly<Record<string, number>> | null
  readonly heldBy: Readonly<Record<string, number>> | null
  readonly calls: Readonly<Record<string, number>> | null
  readonly shut: readonly string[]
}

const look = `
  select count(*) filter (where state = 'scheduled')::int as scheduled, count(*) filter (where state = 'ready')::int as ready,
         count(*) filter (where state = 'running')::int as running,
         (select count(*) from demo.effect)::int as done,
         (select coalesce(sum(1 + items), 0) from demo.orders)::int as promised,
         (select jsonb_object_agg(pid, n) from (select pid, count(*) as n from demo.effect group by pid) x) as "doneBy",
         (select jsonb_object_agg(pid, n) from (
            select split_part(w.name, ':', -1) as pid, count(*) as n
            from sluice.job j join sluice.worker w on w.id = j.worker
            where j.state = 'running' group by 1) x) as "heldBy",
         (select jsonb_object_agg(tenant, n) from (select tenant, count(*) as n from demo.call group by tenant) x) as calls,
         array(select key from sluice.lane where shut) as shut
  from sluice.job`
const paceWindow = 5
const paceMax = 200
const silentMs = 900
const empty: Sample = {
  scheduled: 0,
  ready: 0,
  running: 0,
  done: 0,
  promised: 0,
  doneBy: null,
  heldBy: null,
  calls: null,
  shut: [],
}

export class Stage {
  readonly #screen: Screen
  readonly #words: { title: string; subtitle: string }
  readonly #planned: number
  readonly #tariff: TariffServer
  readonly #client: Client
  readonly #startMs = performance.now()
  readonly #happenings: Happening[] = []
  readonly #samples: { atMs: number; done: number }[] = []
  readonly #pace: number[] = []
  #crew: Crew | undefined
  #last = empty
  #peak = 0
  proof: Proof | undefined
  footer: readonly string[] = []

  constructor(
    database: string,
    screen: Screen,
    words: { title: string; subtitle: string },
    orders: number,
    tariff: TariffServer,
  ) {
    this.#tariff = tariff
    this.#screen = screen
    this.#words = words
    this.#planned = plannedJobs(orders)
    this.#client = new Client({ connectionString: database, application_name: 'demo stage' })
    this.#client.on('error', () => {})
  }

  get elapsedMs(): number {
    return performance.now() - this.#startMs
  }

  /** Nothing that was promised is left to do. */
  get idle(): boolean {
    return this.#last.promised > 0 && this.#last.scheduled + this.#last.ready + this.#last.running === 0
  }

  async open(crew: Crew): Promise<void> {
    this.#crew = crew
    await this.#client.connect()
  }

  say(text: string, tone: Tone = 'plain'): void {
    this.#happenings.push({ atMs: this.elapsedMs, text, tone })
  }

  /** What workers and their engines say, in words for the audience; what only matters to operators is left out. */
  hear({ number, event, fields }: CrewNews): void {
    const them = (fields['workers'] as string[] | undefined)?.map((name) => `worker ${this.#crew?.numberOf(pidIn(name)) ?? name}`)
    switch (event) {
      case 'leading':
        return this.say(`worker ${number} leads, term ${String(fields['term'])}`)
      case 'job rescued':
        return this.#hearRescue(Number(fields['rescued']), them?.join(', ') || 'a lost process')
      case 'lease lost, coming back':
        return this.say(`worker ${number} finds its lease over, drops ${jobs(Number(fields['dropped']))} and joins again`, 'good')
      case 'suspect runs alone':
        return this.say(`worker ${number} runs job ${String(fields['job'])} alone: two processes died with it`, 'warn')
      case 'stopped':
        return this.say(`worker ${number} has ended its jobs and left`, 'good')
      case 'started again':
        return this.say(`worker ${number} is started again`)
      case 'died':
        return this.say(`worker ${number} died: ${String(fields['how'])}`, 'bad')
    }
  }

  #hearRescue(rescued: number, them: string): void {
    if (rescued > 0) this.say(`${jobs(rescued)} that ${them} held ${rescued === 1 ? 'is' : 'are'} rescued`, 'good')
  }

  /** How many jobs the database says a worker holds, in words. */
  async holdings(number: number): Promise<string> {
    await this.refresh()
    const pid = this.#crew?.members.find((member) => member.number === number)?.pids.at(-1) ?? 0
    return jobs(this.#last.heldBy?.[pid] ?? 0)
  }

  async refresh(): Promise<void> {
    const { rows } = await this.#client.query<Sample>(look)
    this.#last = rows[0] ?? empty
    this.#peak = Math.max(this.#peak, this.#last.scheduled, this.#last.ready, this.#last.running)
    this.#measurePace()
    this.#screen.show(this.#scene())
  }

  async prove(): Promise<Proof> {
    this.proof = await countProof(this.#client, this.#tariff.tariff)
    return this.proof
  }

  async close(): Promise<void> {
    await this.#client.end()
  }

  #measurePace(): void {
    this.#samples.push({ atMs: this.elapsedMs, done: this.#last.done })
    if (this.#samples.length > paceWindow) this.#samples.shift()
    const [first] = this.#samples
    const spanMs = this.elapsedMs - (first?.atMs ?? 0)
    if (first && spanMs > 0) this.#pace.push(((this.#last.done - first.done) / spanMs) * 1_000)
    if (this.#pace.length > paceMax) this.#pace.shift()
  }

  #scene(): Scene {
    const workers = (this.#crew?.members ?? []).map((member) => this.#row(member))
    return {
      ...this.#last,
      ...this.#words,
      planned: Math.max(this.#planned, this.#last.promised),
      elapsedMs: this.elapsedMs,
      peak: this.#peak,
      pace: this.#pace,
      workers,
      tenants: tenants.map(({ name, calls }): TenantRow => {
        const waits = this.#last.shut.includes(laneOf(name))
        return { name, calls, done: this.#last.calls?.[name] ?? 0, waits }
      }),
      happenings: this.#happenings,
      proof: this.proof,
      footer: this.footer,
    }
  }

  #row({ number, pids, condition, running, leads, doing, heardMs }: Member): WorkerRow {
    const done = pids.reduce((sum, pid) => sum + (this.#last.doneBy?.[pid] ?? 0), 0)
    const pid = pids.at(-1) ?? 0
    const silent = condition === 'working' && performance.now() - heardMs > silentMs
    return { number, pid, condition, silent, running, held: this.#last.heldBy?.[pid] ?? 0, leads, doing, done }
  }
}

const pidIn = (name: string): number => Number(name.slice(name.lastIndexOf(':') + 1))
