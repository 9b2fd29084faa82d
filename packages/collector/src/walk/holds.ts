/**
 * Who was told to wait, in this process. The lane and the owner are held in the database as well, but jobs that were claimed before are about to send: they
 * look here first, so that nothing follows an answer that said stop.
 */
export class Holds {
  readonly #until = new Map<string, number>()

  /** Answers until when: somebody may have said a later time. */
  hold(name: string, until: Date): Date {
    const latest = Math.max(until.getTime(), this.#until.get(name) ?? 0)
    this.#until.set(name, latest)
    return new Date(latest)
  }

  /** The latest time that one of them has to wait for; nothing if none has to. */
  find(names: readonly string[], now: number): Date | undefined {
    let latest = 0
    for (const name of names) {
      const until = this.#until.get(name) ?? 0
      if (until > now) latest = Math.max(latest, until)
      else this.#until.delete(name)
    }
    return latest === 0 ? undefined : new Date(latest)
  }
}
