/**
 * Worker: a process's part in the work. It claims for its pools, runs what it claimed, and settles.
 *
 * The constructor shows how the parts hang together; what a process does when it leaves, was declared dead, or meets a suspect is below.
 */
import type { Claim } from '../dispatch/claim.ts'
import type { Dispatcher } from '../dispatch/dispatcher.ts'
import type { AnyKind } from '../job/kind.ts'
import { suspectCrashes } from '../job/lifecycle.ts'
import type { Database } from '../postgres/database.ts'
import type { Clock } from '../support/clock.ts'
import type { Scrub } from '../support/errors.ts'
import { noProbe, type Probe } from '../support/fail-point.ts'
import type { Log } from '../support/log.ts'
import type { Service } from '../support/service.ts'
import type { Witness } from '../support/witness.ts'
import { ClaimGate } from './claim-gate.ts'
import { Claimer } from './claimer.ts'
import type { Ended } from './ended.ts'
import { Grace } from './grace.ts'
import { HandOver } from './hand-over.ts'
import type { Beat } from './heartbeat.ts'
import { HeldClaims } from './held-claims.ts'
import { breakOff, handBack, judgeFailedWrite, type Verdict } from './judge.ts'
import { Pool } from './pool.ts'
import { deregisterWorker, markStopping, registerWorker } from './register.ts'
import { Runner } from './runner.ts'
import { Settler } from './settler.ts'
import { Suspects } from './suspects.ts'

export interface WorkerOptions {
  readonly database: Database
  readonly dispatcher: Dispatcher
  readonly clock: Clock
  readonly log: Log
  readonly witness: Witness
  readonly probe: Probe
  readonly random: () => number
  readonly scrub: Scrub | undefined
  readonly kinds: ReadonlyMap<string, AnyKind>
  readonly services: unknown
  readonly name: string
  readonly pools: Readonly<Record<string, { core: number; max: number }>>
  readonly leaseMs: number
  readonly payloadBytesMax: () => number
  readonly priorityStepMs: () => number
  readonly trusted: () => boolean
  readonly beatNow: () => void
  /** The first job after an idle time: the lease must be fresh. */
  readonly onBusy: () => void
}

export class Worker implements Service {
  readonly pools: ReadonlyMap<string, Pool>
  readonly unknownKinds = new Set<string>()
  readonly handOver: HandOver
  readonly suspects: Suspects
  readonly #options: WorkerOptions
  readonly #settler: Settler
  readonly #runner: Runner
  readonly #held = new HeldClaims()
  readonly #gate: ClaimGate
  #id = 0
  readonly #claimer: Claimer
  #waitingForEnd: (() => void)[] = []
  #stopping: Promise<void> | undefined
  readonly #grace = new Grace()

  constructor(options: WorkerOptions) {
    const { clock, leaseMs, trusted, log } = options
    this.#options = options
    const onClosed = (): void => {
      if (this.handOver.offeredMs() === null) this.#held.noneOnTheWay()
      this.#tellIfEnded()
    }
    this.#gate = new ClaimGate(clock, leaseMs, () => this.handOver.audit(), onClosed)
    this.#runner = new Runner({ ...options, held: this.#held })
    this.#settler = new Settler({
      ...options,
      worker: () => this.#id,
      onWriteFailed: (claim, error) => judgeFailedWrite(claim, this.#kind(claim), error, options.random(), options.scrub),
      onOver: (group, ended) => this.#forget(group, ended),
      announces: () => options.dispatcher.announces,
      onCaused: (ids) => options.dispatcher.offer(ids.map((id) => ({ id, facts: undefined }))),
    })
    const mayClaim = (): boolean => trusted() && !this.#stopping && !this.suspects.alone
    this.handOver = new HandOver({
      ...options,
      gate: this.#gate,
      held: this.#held,
      worker: () => this.#id,
      isIdle: () => !this.busy && !this.#gate.claiming && mayClaim() && options.dispatcher.status.by === 'postgres',
      poolOf: (name) => this.pools.get(name),
      admit: (claims) => this.#admit(claims),
      giveBack: (claims) => this.#giveBack(claims),
      lookAgain: () => this.wakeAll(),
    })
    this.#claimer = new Claimer({
      ...options,
      gate: this.#gate,
      worker: () => this.#id,
      mayClaim,
      unknownKinds: () => [...this.unknownKinds],
      admit: (claims) => this.#admit(claims),
      lookAgain: (pool) => this.pools.get(pool)?.wake(),
    })
    this.suspects = new Suspects({
      log,
      makeRoom: () => this.#handBackWaiting(),
      allEnded: () => this.#allEnded(),
      mayRun: () => !this.busy && !this.#stopping && trusted(),
      claim: () => this.#claimer.suspect([...this.pools.keys()]),
      run: async (claim) => await this.#run(claim),
      settled: () => this.#settler.drained(),
      goOn: () => {
        for (const pool of this.pools.values()) pool.release()
      },
    })
    this.pools = new Map(
      Object.entries(options.pools).map(([name, { core, max }]) => [
        name,
        new Pool({
          name,
          core,
          max,
          clock,
          supply: (demand) => options.dispatcher.supply(demand, this.#claimer),
          run: (claim) => this.#run(claim),
          giveBack: (claims) => this.#giveBack(claims),
          unsettled: () => this.#settler.pending,
        }),
      ]),
    )
  }

  get id(): number {
    return this.#id
  }

  get busy(): boolean {
    return this.#held.size > 0
  }

  async start(): Promise<void> {
    const { database, dispatcher, name, pools, kinds, leaseMs } = this.#options
    this.#id = await registerWorker(database.viaIntake, { name, pools, kinds: [...kinds.keys()], leaseMs })
    await dispatcher.start(this.#claimer, Object.keys(pools))
  }

  wakeAll(): void {
    for (const pool of this.pools.values()) pool.wake()
  }

  /** 'ready:POOL' or 'turn:POOL', or '*' for all pools. Before the start nobody sleeps here. */
  wake(topic: string): void {
    if (this.#id === 0) return
    this.#options.dispatcher.hear(topic)
    const where = topic.startsWith('turn:') ? 'lanes' : 'open'
    const pool = topic.slice(topic.indexOf(':') + 1)
    for (const one of pool === '*' ? this.pools.values() : [this.pools.get(pool)]) one?.wake(where)
  }

  cancel(id: number, fence: number): void {
    this.#held.cancel(id, fence, this.#gate.claiming || this.handOver.offeredMs() !== null)
  }

  /** After a reconnect, claims whose answer got lost must be handed back before new ones are made. */
  reconnected(): void {
    this.handOver.close()
    this.#gate.auditDue = true
    this.wakeAll()
  }

  async onBeat(beat: Beat): Promise<void> {
    if (!beat.known) return this.#rejoin()
    for (const id of beat.cancel) this.cancel(id, beat.nowMs * 1_000) // fences are microseconds: what it saw running was claimed before
    this.#gate.onBeat()
    this.handOver.confirm(beat.handed, beat.sentMs)
    if (this.#gate.auditDue) this.wakeAll()
    this.#options.dispatcher.onBeat(beat)
    for (const pool of beat.ready) this.pools.get(pool)?.wake('open')
    for (const pool of beat.turns) this.pools.get(pool)?.wake('lanes')
    if (beat.suspects) this.hearSuspects(true)
    else this.suspects.callOff()
  }

  /** Jobs that are suspected of killing their process wait for one that is idle. */
  hearSuspects(evenIfBusy = false): void {
    if ((evenIfBusy || !this.busy) && !this.#stopping) this.suspects.run()
  }

  /** Lets running jobs end for `graceMs` and hands back the rest: no attempt is burned and nothing waits for a lease. */
  stop(graceMs = 0): Promise<void> {
    this.#grace.shorten(graceMs, this.#options.clock)
    this.#stopping ??= this.#leave()
    return this.#stopping
  }

  async #leave(): Promise<void> {
    const { database, log } = this.#options
    await markStopping(database, this.#id).catch(() => {})
    this.#handBackWaiting()
    const unheard = this.handOver.leave()
    await Promise.race([this.#allEnded(), this.#grace.over])
    this.#grace.cancel()
    for (const claim of this.#held.claims()) {
      log.warn('job handed back at stop', { job: claim.id, kind: claim.kind })
      this.#held.abort(claim.id, 'shutdown')
      this.#end(claim, breakOff)
    }
    await this.#settler.drained()
    await this.#runner.stop()
    await unheard
    await this.#options.dispatcher.stop()
    await deregisterWorker(database, this.#id).catch((error) => log.warn('leaving without a word', { reason: String(error) }))
  }

  async #allEnded(): Promise<void> {
    while (this.#held.size > 0 || this.#gate.claiming) await new Promise<void>((resolve) => this.#waitingForEnd.push(resolve))
  }

  #tellIfEnded(): void {
    if (this.#held.size > 0 || this.#gate.claiming) return
    for (const resolve of this.#waitingForEnd.splice(0)) resolve()
    this.handOver.offer()
  }

  /** Keeps what this process can run and hands back what it does not know (a newer version's kinds, while a deploy rolls on). */
  #admit(claims: Claim[]): Claim[] {
    const wasIdle = this.#held.size === 0
    const heldMs = this.#options.clock.monotonic()
    this.#runner.prepare()
    const mine = claims.filter((claim) => {
      this.#held.hold(claim, heldMs)
      const known = this.#options.kinds.has(claim.kind)
      if (known && !this.#stopping && (!this.suspects.alone || claim.crashes >= suspectCrashes)) return true
      if (!known) this.unknownKinds.add(claim.kind)
      this.#end(claim, handBack)
      return false
    })
    if (wasIdle && mine.length > 0) this.#options.onBusy()
    if (wasIdle && claims.length > 0) setImmediate(() => this.handOver.withdraw()) // they start first
    return mine
  }

  #run(claim: Claim): Promise<void> | undefined {
    const held = this.#held.find(claim)
    if (!held) return undefined
    const verdict = this.#runner.run(held, this.#kind(claim))
    if (this.#options.probe === noProbe && !(verdict instanceof Promise)) {
      this.#end(claim, verdict)
      return undefined
    }
    return this.#endLater(claim, verdict)
  }

  async #endLater(claim: Claim, verdict: Verdict | Promise<Verdict>): Promise<void> {
    const awaited = await verdict
    await this.#options.probe('handler ended')
    this.#end(claim, awaited)
  }

  #end(claim: Claim, verdict: Verdict): void {
    const held = this.#held.end(claim)
    if (held) this.#settler.add({ claim, verdict, said: held.said, ranMs: this.#runner.end(held), trace: held.trace })
  }

  #kind(claim: Claim): AnyKind {
    return this.#options.kinds.get(claim.kind) as AnyKind
  }

  #forget(group: readonly Ended[], ended: boolean): void {
    for (const { claim } of group) this.#held.forget(claim)
    this.#options.dispatcher.acknowledge(group)
    if (!ended) this.#gate.auditGivenUp(this.#options.trusted())
    for (const pool of this.pools.values()) pool.goOn()
    this.#tellIfEnded()
  }

  /** This process was declared dead: what it held belongs to others. It drops everything and comes back under a new name. */
  async #rejoin(): Promise<void> {
    if (this.#stopping && !this.busy) return // the beat overtook its own goodbye
    this.#options.log.warn('lease lost, coming back', { worker: this.#id, dropped: this.#held.size })
    for (const pool of this.pools.values()) pool.hold()
    this.#held.drop()
    this.#tellIfEnded()
    if (this.#stopping) return // whoever leaves does not come back
    await this.start()
    await this.handOver.rejoin()
    for (const pool of this.pools.values()) pool.release()
  }

  #handBackWaiting(): void {
    for (const pool of this.pools.values()) this.#giveBack(pool.hold())
  }

  #giveBack(claims: readonly Claim[]): void {
    for (const claim of claims) this.#end(claim, handBack)
  }
}
