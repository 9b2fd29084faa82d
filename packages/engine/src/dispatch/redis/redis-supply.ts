/**
 * What keeps a pool filled from Redis: it waits in a blocking read while nothing is there, takes as many ids as the pool has room for, and claims
 * them in PostgreSQL. While Redis is away it hands the pool to the supply of PostgreSQL.
 *
 * Short jobs are claimed ahead of their slots, as there. What PostgreSQL refuses is told to Redis with the reason, so that no id goes round.
 */
import type { Demand, Door, Supply } from '../dispatcher.ts'
import type { Answer, ClaimedIds } from './claim-ids.ts'

/** An id that Redis handed to this process. */
export interface Entry {
  readonly id: number
  readonly priorityClass: number
  readonly entry: string
}

/** What becomes of an entry that did not start; refuse.lua explains each. */
export interface Refused extends Entry {
  readonly what: 'drop' | 'later' | 'again' | 'lane' | 'strange'
  readonly ms: number | undefined
}

export interface RedisSource {
  readonly up: boolean
  /** As many as there are, up to `count`. What is of kinds that this process does not know is set apart. */
  take(pool: string, count: number, unknownKinds: readonly string[]): Promise<Entry[]>
  /** What others have set apart. */
  adopt(pool: string, count: number, unknownKinds: readonly string[]): Promise<Entry[]>
  /** Waits for the first, for a while. */
  wait(pool: string): Promise<Entry[]>
  claim(pool: string, door: Door, entries: readonly Entry[]): Promise<ClaimedIds>
  refuse(pool: string, refused: readonly Refused[]): Promise<void>
  /** Redis did not do what it was asked for. */
  trouble(pool: string, error: unknown): Promise<void>
}

const aheadMs = 40
const unsettledMax = 4_000
/** A claim that failed, a row that somebody held. */
const soonMs = 50
const failedMs = 250

export class RedisSupply implements Supply {
  readonly #demand: Demand
  readonly #fallback: Supply
  readonly #source: RedisSource
  readonly #door: Door
  #pumping = false
  #backlog = false
  /** There may be more than one: take many at once before waiting. */
  #look = true
  #awake = false
  /** Something may have been set apart. */
  #strange = false
  #adopting = false
  /** Taken from the streams and not claimed yet, or asked for. */
  #asked = 0
  /** The same for what was set apart. Counted by itself: after trouble with the streams nothing counts as taken from them. */
  #askedApart = 0

  constructor(demand: Demand, door: Door, source: RedisSource, fallback: (demand: Demand) => Supply) {
    this.#demand = demand
    this.#door = door
    this.#source = source
    this.#fallback = fallback(heldWhile(demand, () => source.up))
  }

  wake(where: 'open' | 'lanes' | 'both'): void {
    this.#awake = true
    if (!this.#source.up) return this.#fallback.wake(where)
    if (where === 'both') void this.#door.audit()
    this.goOn()
  }

  goOn(): void {
    if (!this.#source.up) return this.#fallback.goOn()
    void this.#pump()
    if (this.#strange) void this.#adopt()
  }

  /** Somebody was handed ids whose kinds it does not know. By the streams they would come here only by chance. */
  hearStrange(): void {
    this.#strange = true
    if (this.#awake) void this.#adopt()
  }

  hold(): void {
    this.#fallback.hold()
  }

  /** Redis came or went. Before the first wake-up the process is not ready to work. */
  switched(): void {
    this.#look = true
    this.#strange = true
    if (this.#awake) this.wake('both')
  }

  #room(): number {
    const { held, running, waiting, pace, core, max } = this.#demand
    if (held || !this.#door.open() || this.#demand.unsettled() > unsettledMax) return 0
    // What comes when the core is taken is a backlog.
    const limit = this.#backlog || running >= core ? max : core
    const ahead = pace.in(aheadMs)
    const room = limit + ahead - running - waiting - this.#asked - this.#askedApart
    return room >= Math.max(1, ahead / 2) ? Math.min(room, Math.max(limit, Math.ceil(ahead / 2))) : 0
  }

  async #pump(): Promise<void> {
    if (this.#pumping) return
    this.#pumping = true
    const pool = this.#demand.name
    let taking: Promise<Entry[]> | undefined
    try {
      for (taking = this.#take(pool); taking; ) {
        const entries: Entry[] = await taking
        const claiming = this.#claim(pool, entries, () => {
          this.#asked -= entries.length
        })
        // Under a backlog the next ids are on their way while these are claimed.
        taking = this.#backlog ? this.#take(pool) : undefined
        await claiming
        taking ??= this.#take(pool)
      }
    } catch (error) {
      this.#look = true
      // What it brings is taken over like that of a dead process.
      await taking?.catch(() => {})
      this.#asked = 0
      await this.#source.trouble(pool, error)
    } finally {
      this.#pumping = false
    }
    // What ended meanwhile may have made room.
    if (this.#source.up && this.#room() > 0) void this.#pump()
  }

  async #adopt(): Promise<void> {
    if (this.#adopting) return
    this.#adopting = true
    const pool = this.#demand.name
    try {
      for (let room = this.#room(); this.#strange && room > 0 && this.#source.up; room = this.#room()) {
        this.#strange = false
        this.#askedApart = room
        const entries = await this.#source.adopt(pool, room, this.#door.unknownKinds())
        if (entries.length === room) this.#strange = true
        await this.#claim(pool, entries, () => {
          this.#askedApart = 0
        })
      }
    } catch (error) {
      await this.#source.trouble(pool, error)
    } finally {
      this.#askedApart = 0
      this.#adopting = false
    }
    // What it held free for them, the streams may fill.
    if (this.#source.up) void this.#pump()
  }

  #take(pool: string): Promise<Entry[]> | undefined {
    const room = this.#room()
    if (room <= 0 || !this.#source.up) return undefined
    const taking = this.#takeUpTo(pool, room)
    // Awaited when the ids before it are claimed; without this a failure meanwhile would end the process.
    taking.catch(() => {})
    return taking
  }

  async #takeUpTo(pool: string, room: number): Promise<Entry[]> {
    this.#demand.pace.measure()
    const looks = this.#look
    const asked = looks ? room : 1
    this.#asked += asked
    const entries = await (looks ? this.#source.take(pool, room, this.#door.unknownKinds()) : this.#source.wait(pool))
    this.#asked += entries.length - asked
    this.#backlog = looks && entries.length >= room
    this.#look = entries.length > 0
    return entries
  }

  /** `claimed` is called when they need no room any more but that of what was claimed. */
  async #claim(pool: string, entries: readonly Entry[], claimed: () => void): Promise<void> {
    if (entries.length === 0) return claimed()
    const found = await this.#door.pass(pool, () => this.#source.claim(pool, this.#door, entries)).finally(claimed)
    if (!found) {
      await this.#source.refuse(
        pool,
        entries.map((one) => ({ ...one, what: 'later', ms: failedMs })),
      )
      return
    }
    this.#demand.accept(found.claims)
    this.#demand.fill()
    if (found.refused.length === 0) return
    const answers = new Map(found.refused.map((one) => [one.id, one]))
    const refused = entries.flatMap((one) => {
      const answer = answers.get(one.id)
      return answer ? [{ ...one, ...fate(answer.answer, answer.waitMs) }] : []
    })
    await this.#source.refuse(pool, refused)
  }
}

/** What becomes of an id that PostgreSQL refused. What is dropped is offered again by whoever makes it possible. */
function fate(answer: Answer, waitMs: number | undefined): Pick<Refused, 'what' | 'ms'> {
  switch (answer) {
    case 'gone':
    case 'running':
    case 'paused':
    case 'suspect':
    case 'owner':
      return { what: 'drop', ms: undefined }
    case 'early':
      return { what: 'later', ms: Math.max(1, waitMs ?? soonMs) }
    case 'busy':
      return { what: 'later', ms: soonMs }
    case 'unknown':
      return { what: 'strange', ms: undefined }
    case 'lane':
      return { what: 'lane', ms: undefined }
  }
}

/** The same pool, that takes nothing from PostgreSQL while Redis is there. */
function heldWhile(demand: Demand, up: () => boolean): Demand {
  const { name, core, max, pace } = demand
  return {
    name,
    core,
    max,
    pace,
    get held() {
      return up() || demand.held
    },
    get running() {
      return demand.running
    },
    get waiting() {
      return demand.waiting
    },
    get lanedInHand() {
      return demand.lanedInHand
    },
    get lanedRunning() {
      return demand.lanedRunning
    },
    unsettled: () => demand.unsettled(),
    accept: (claims) => demand.accept(claims),
    fill: () => demand.fill(),
  }
}
