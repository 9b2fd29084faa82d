/**
 * Master keys: 32 random bytes, written in base64. Several stand beside each other, separated by commas or line ends, while one takes the place of another:
 * the first one seals, all of them open.
 *
 * A key's id is made from the key itself, so it needs no bookkeeping: every process that has the key knows it by the same id. The id tells nothing about the key.
 */
import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { SluiceError } from '../support/errors.ts'

const keyBytes = 32
const keysMax = 20

export interface MasterKey {
  readonly id: string
  /** Node's own wrapper, which does not print what it holds. */
  readonly key: KeyObject
}

export function generateMasterKey(): string {
  return randomBytes(keyBytes).toString('base64')
}

/** `source` is where the text comes from, for the message. The text itself is in no message. */
export function readMasterKeys(text: string, source: string): [MasterKey, ...MasterKey[]] {
  const words = text.split(/[\s,]+/).filter((word) => word !== '')
  const keys = words.slice(0, keysMax).map((word, at) => readMasterKey(word, at + 1, source))
  const [first, ...others] = keys
  if (!first) throw invalid(source, 'holds no key')
  if (words.length > keysMax) throw invalid(source, `holds more than ${keysMax} keys`)
  if (new Set(keys.map(({ id }) => id)).size < keys.length) throw invalid(source, 'holds a key twice')
  return [first, ...others]
}

function readMasterKey(word: string, place: number, source: string): MasterKey {
  const plain = word.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '')
  const bytes = Buffer.from(plain, 'base64')
  if (bytes.toString('base64').replace(/=+$/, '') !== plain) throw invalid(source, `key ${place} is not written in base64`)
  if (bytes.length !== keyBytes) throw invalid(source, `key ${place} has ${bytes.length} bytes and needs ${keyBytes}`)
  if (bytes.every((byte) => byte === bytes[0])) throw invalid(source, `key ${place} is not random`)
  const id = createHmac('sha256', bytes).update('sluice master key id').digest('hex').slice(0, 12)
  return { id, key: createSecretKey(bytes) }
}

function invalid(source: string, problem: string): SluiceError {
  return new SluiceError('MASTER_KEY_INVALID', { source, problem })
}
