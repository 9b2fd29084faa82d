/**
 * Which methods an address takes, so that a wrong one is answered with 405 and the right ones, and only an unknown address with 404.
 */
import type { FastifyInstance } from 'fastify'

export class Methods {
  readonly #byPattern = new Map<string, { readonly matches: RegExp; readonly methods: Set<string> }>()

  /** Before the first route is added. */
  watch(app: FastifyInstance): void {
    app.addHook('onRoute', ({ url, method }) => {
      const known = this.#byPattern.get(url) ?? { matches: toRegExp(url), methods: new Set<string>() }
      for (const one of [method].flat()) known.methods.add(one)
      this.#byPattern.set(url, known)
    })
  }

  /** In the order of the alphabet; empty for an unknown address. */
  of(path: string): string[] {
    const methods = [...this.#byPattern.values()]
      .filter(({ matches }) => matches.test(path))
      .flatMap(({ methods }) => [...methods])
    return [...new Set(methods)].toSorted()
  }
}

function toRegExp(pattern: string): RegExp {
  const parts = pattern.split('/').map((part) => (part.startsWith(':') ? '[^/]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')))
  return new RegExp(`^${parts.join('/')}$`)
}
