/**
 * What tells a handler to stop. An AbortSignal costs as much as a small job (4 µs), so it is made when a handler first asks for it.
 */
export class StopSwitch {
  #controller: AbortController | undefined
  #reason: unknown

  get aborted(): boolean {
    return this.#reason !== undefined
  }

  get reason(): unknown {
    return this.#reason
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.aborted) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  /** The first reason counts. */
  abort(reason: unknown): void {
    if (this.aborted) return
    this.#reason = reason
    this.#controller?.abort(reason)
  }
}
