/**
 * The shape every contender has, so that the benches cannot treat one of them better than another.
 *
 * A contender is a library with one set of settings. `default` means what its README gives; `tuned` means the best honest
 * settings we found on the bench machine, with what was tried written in that contender's file. Payloads are `{ n }` for all.
 * A session belongs to one process; processes of one round share a place, which is a database and a Redis of their own.
 */
export interface Place {
  readonly databaseUrl: string
  readonly redisSocket: string | null
}

export interface Session {
  /** Creates tables and queues. Called once in each place, before anybody else opens it. */
  prepare(): Promise<void>
  /** Opens connections and learns what the library wants to know before its first enqueue. */
  connect(): Promise<void>
  enqueueBulk(numbers: readonly number[]): Promise<void>
  enqueueOne(n: number): Promise<void>
  enqueueAt(n: number, due: Date): Promise<void>
  /** Starts a worker and resolves when it is ready for jobs. `onJob` is called as the first act of the handler. */
  work(onJob: (n: number) => void): Promise<() => Promise<void>>
  /** How many jobs are in the store and not yet durably finished. */
  unsettled(): Promise<number>
  /** True as soon as nothing is unsettled; cheap enough to be asked every few milliseconds. */
  allSettled(): Promise<boolean>
  close(): Promise<void>
}

export interface Contender {
  /** Jobs a bulk call, and calls under way at once: what was best for this contender. */
  readonly bulk: { readonly size: number; readonly parallel: number }
  open(place: Place): Session
}
