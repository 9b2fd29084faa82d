/**
 * Secrets by name: `engine.secrets`. Put a token once, enqueue its name, open it in the handler. Values are sealed here, before they leave the process.
 */
import { clientOf, type Executor, type QueryClient } from '../postgres/client.ts'
import { SluiceError } from '../support/errors.ts'
import type { About } from './envelope.ts'
import type { KeyRing } from './key-ring.ts'
import type { Sealed } from './sealed.ts'
import * as store from './secret-store.ts'

export interface Rotated {
  /** The key that seals now. */
  readonly keyId: string
  readonly resealed: number
  /** Those that take another key still: the unreadable ones, and what others put meanwhile. With 0, older keys can go. */
  readonly left: number
  /** Which could not be opened, and the code of the error that opening them gives. The first 100. */
  readonly unreadable: readonly { readonly name: string; readonly code: string }[]
}

const nameCharsMax = 200
const listedMax = 1_000
const batchRows = 100
const unreadableMax = 100

export class Secrets {
  readonly #ready: () => Promise<Executor>
  readonly #ring: KeyRing | undefined

  constructor(ready: () => Promise<Executor>, ring: KeyRing | undefined) {
    this.#ready = ready
    this.#ring = ring
  }

  /** Stores a value, in place of the one of this name. With a client of yours it is there if and only if you commit. */
  async put(name: string, value: string | Sealed, options?: { client?: QueryClient }): Promise<void> {
    const client = clientOf('secrets.put', options)
    const ring = this.#keys()
    const sealed = ring.seal(value, about(name))
    await store.storeSecret(await this.#ready(), { name, sealed }, ring.current, client)
  }

  async open(name: string): Promise<Sealed> {
    const ring = this.#keys()
    const found = isName(name) ? await store.findSecret(await this.#ready(), name) : undefined
    if (found === undefined) throw new SluiceError('UNKNOWN_SECRET', { name: isName(name) ? name : undefined })
    return ring.open(found, about(name))
  }

  /** Answers whether there was one. */
  async remove(name: string): Promise<boolean> {
    return isName(name) && store.removeSecret(await this.#ready(), name)
  }

  /** What there is, without values, in the order of names. */
  async list({ after = '', limit = 100 }: { after?: string; limit?: number } = {}): Promise<store.StoredSecret[]> {
    if (!Number.isInteger(limit) || limit < 1 || limit > listedMax)
      throw new SluiceError('INVALID_OPTION', { field: 'limit', problem: `must be a whole number from 1 to ${listedMax}` })
    if (after !== '' && !isName(after))
      throw new SluiceError('INVALID_OPTION', { field: 'after', problem: 'must be the name of a secret' })
    return store.listSecrets(await this.#ready(), after, limit)
  }

  /**
   * Seals everything anew under the current key. Broken off, it goes on where it was when it is called again, since what is done is known by its key. Nothing is
   * locked meanwhile: a value that somebody puts in the middle wins.
   */
  async rotate(): Promise<Rotated> {
    const ring = this.#keys()
    const on = await this.#ready()
    const unreadable: { name: string; code: string }[] = []
    let resealed = 0
    let after: string | undefined = ''
    while (after !== undefined) {
      const rows: store.SealedRow[] = await store.listSealedByOthers(on, ring.current, after, batchRows)
      for (const { name, sealed } of rows) {
        const opened = tryToOpen(ring, name, sealed)
        if (typeof opened === 'string') unreadable.push({ name, code: opened })
        else if (await store.resealSecret(on, name, sealed, ring.seal(opened, about(name)), ring.current)) resealed++
      }
      after = rows.length < batchRows ? undefined : rows.at(-1)?.name
    }
    const left = await store.countSealedByOthers(on, ring.current)
    return { keyId: ring.current, resealed, left, unreadable: unreadable.slice(0, unreadableMax) }
  }

  #keys(): KeyRing {
    if (!this.#ring) throw new SluiceError('SECRETS_OFF')
    return this.#ring
  }
}

/** A value that was copied to another name does not open there. */
function about(name: string): About {
  if (!isName(name))
    throw new SluiceError('INVALID_OPTION', {
      field: 'name',
      problem: `must be text of 1 to ${nameCharsMax} characters, without control characters`,
    })
  return { purpose: 'engine.secret', name }
}

function isName(name: unknown): name is string {
  return typeof name === 'string' && name !== '' && name.length <= nameCharsMax && name.isWellFormed() && !/\p{Cc}/u.test(name)
}

/** The value, or the code of what was wrong. */
function tryToOpen(ring: KeyRing, name: string, sealed: string): Sealed | string {
  try {
    return ring.open(sealed, about(name))
  } catch (error) {
    if (error instanceof SluiceError) return error.code
    throw error
  }
}
