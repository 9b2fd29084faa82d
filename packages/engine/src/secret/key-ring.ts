/**
 * The master keys of a process: seals with the first, opens with all. It has no way to show a key.
 */
import { SluiceError } from '../support/errors.ts'
import { type About, openValue, readEnvelope, sealValue } from './envelope.ts'
import { type MasterKey, readMasterKeys } from './master-key.ts'
import { createMasterKeyFile, readMasterKeyFile } from './master-key-file.ts'
import { Sealed } from './sealed.ts'

export interface KeySource {
  /** What SLUICE_MASTER_KEY holds. When it is set, the file is not looked at. */
  readonly text?: string | undefined
  readonly file?: string | undefined
  /** What to do when there is no such file: make it (a system on one machine), refuse, or go on without secrets. Default: refuse. */
  readonly missing?: 'create' | 'refuse' | 'go on'
}

const valueBytesMax = 65_536

export class KeyRing {
  /** The id of the key that seals. */
  readonly current: string
  readonly #keys: ReadonlyMap<string, MasterKey>
  readonly #first: MasterKey

  private constructor(keys: readonly [MasterKey, ...MasterKey[]]) {
    this.#first = keys[0]
    this.current = keys[0].id
    this.#keys = new Map(keys.map((key) => [key.id, key]))
  }

  static fromText(text: string, source = 'SLUICE_MASTER_KEY'): KeyRing {
    return new KeyRing(readMasterKeys(text, source))
  }

  static async fromEnvOrFile({ text, file, missing = 'refuse' }: KeySource): Promise<KeyRing | undefined> {
    if (text !== undefined && text.trim() !== '') return KeyRing.fromText(text)
    if (file === undefined) return undefined
    const found = await readMasterKeyFile(file)
    if (found !== undefined) return KeyRing.fromText(found, file)
    if (missing === 'go on') return undefined
    if (missing === 'create') return KeyRing.fromText(await createMasterKeyFile(file), file)
    throw new SluiceError('MASTER_KEY_INVALID', { source: file, problem: 'does not exist' })
  }

  /** Of all keys, the one that seals first. */
  get ids(): string[] {
    return [...this.#keys.keys()]
  }

  seal(value: string | Sealed, about: About): string {
    const plain = value instanceof Sealed ? value.reveal() : value
    const problem = findProblem(plain)
    if (problem) throw new SluiceError('INVALID_OPTION', { field: 'value', problem })
    return sealValue(plain, about, this.#first)
  }

  open(text: string, about: About): Sealed {
    const { name } = about
    const envelope = readEnvelope(text)
    if (!envelope) throw new SluiceError('SECRET_UNREADABLE', { name })
    const found = this.#keys.get(envelope.keyId)
    if (!found) throw new SluiceError('MASTER_KEY_UNKNOWN', { name, key: envelope.keyId, known: this.ids.join(', ') })
    try {
      return new Sealed(openValue(envelope, about, found.key))
    } catch (error) {
      throw new SluiceError('SECRET_UNREADABLE', { name }, error)
    }
  }
}

function findProblem(plain: unknown): string | undefined {
  if (typeof plain !== 'string') return 'must be text'
  if (!plain.isWellFormed()) return 'holds half of a surrogate pair; mend it with text.toWellFormed()'
  return Buffer.byteLength(plain) > valueBytesMax ? `has more than ${valueBytesMax} bytes` : undefined
}
