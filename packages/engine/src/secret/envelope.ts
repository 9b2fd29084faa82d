/**
 * A sealed value as text: `v1.<key id>.<data key>.<value>`, AES-256-GCM twice.
 *
 * Each value has a random key of its own, which the master key seals. So a master key only ever seals a few random bytes, and no number of values wears it out.
 * What a value is for and under which name it is kept goes into both seals as additional data: copied to another name, to another purpose or beside another
 * data key it does not open. Text is taken only as it is written here, so that there are no two forms of one seal.
 */
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

const version = 'v1'
const cipher = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16
const dataKeyBytes = 32

/** What a sealed value belongs to. It opens for nothing else. */
export interface About {
  readonly purpose: string
  readonly name: string
}

export interface Envelope {
  readonly keyId: string
  readonly dataKey: Buffer
  readonly value: Buffer
}

export function sealValue(value: string, about: About, { id, key }: { id: string; key: KeyObject }): string {
  const dataKey = randomBytes(dataKeyBytes)
  const sealedKey = encrypt(dataKey, key, additional(id, 'key', about))
  const sealedValue = encrypt(Buffer.from(value, 'utf8'), createSecretKey(dataKey), additional(id, 'value', about))
  dataKey.fill(0)
  return [version, id, sealedKey.toString('base64url'), sealedValue.toString('base64url')].join('.')
}

/** Nothing for text that is no envelope of ours. */
export function readEnvelope(text: string): Envelope | undefined {
  const [written, keyId, dataKey, value, ...rest] = text.split('.')
  if (written !== version || !keyId || dataKey === undefined || value === undefined || rest.length > 0) return undefined
  const [first, second] = [decode(dataKey), decode(value)]
  if (first?.length !== nonceBytes + dataKeyBytes + tagBytes || !second || second.length < nonceBytes + tagBytes) return undefined
  return { keyId, dataKey: first, value: second }
}

/** Throws what the cipher throws when anything is not as it was sealed. */
export function openValue({ keyId, dataKey, value }: Envelope, about: About, key: KeyObject): string {
  const opened = createSecretKey(decrypt(dataKey, key, additional(keyId, 'key', about)))
  return decrypt(value, opened, additional(keyId, 'value', about)).toString('utf8')
}

function additional(keyId: string, part: 'key' | 'value', { purpose, name }: About): Buffer {
  return Buffer.from(JSON.stringify(['sluice', version, keyId, part, purpose, name]), 'utf8')
}

function encrypt(plain: Buffer, key: KeyObject, aad: Buffer): Buffer {
  const nonce = randomBytes(nonceBytes)
  const sealing = createCipheriv(cipher, key, nonce, { authTagLength: tagBytes }).setAAD(aad)
  return Buffer.concat([nonce, sealing.update(plain), sealing.final(), sealing.getAuthTag()])
}

function decrypt(sealed: Buffer, key: KeyObject, aad: Buffer): Buffer {
  const opening = createDecipheriv(cipher, key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes })
  opening.setAAD(aad).setAuthTag(sealed.subarray(-tagBytes))
  return Buffer.concat([opening.update(sealed.subarray(nonceBytes, -tagBytes)), opening.final()])
}

/** Base64 has several texts for the same bytes; only the one that we write counts. */
function decode(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : undefined
}
