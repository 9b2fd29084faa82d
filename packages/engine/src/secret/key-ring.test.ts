/** Sealing and opening: what was sealed opens as it was, and nothing else opens. */
import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { KeyRing } from './key-ring.ts'
import { generateMasterKey } from './master-key.ts'
import { Sealed } from './sealed.ts'

const [first, second, third] = [generateMasterKey(), generateMasterKey(), generateMasterKey()]
const ring = KeyRing.fromText(first)
const about = { purpose: 'test', name: 'github.token' }
const text = fc.string({ unit: 'grapheme', maxLength: 300 })
const codeOf = (act: () => unknown): unknown => {
  try {
    return act()
  } catch (error) {
    return (error as { code?: string }).code
  }
}

test('[O-10] what was sealed opens as it was, whatever it is and is called', () => {
  fc.assert(
    fc.property(text, text, text, (value, purpose, name) => {
      expect(ring.open(ring.seal(value, { purpose, name }), { purpose, name }).reveal()).toBe(value)
    }),
  )
})

test('[O-10] a sealed value can be sealed again without being shown', () => {
  expect(ring.open(ring.seal(new Sealed('x'), about), about).reveal()).toBe('x')
})

test('[O-10] the same value sealed twice looks different and does not show', () => {
  const seals = Array.from({ length: 100 }, () => ring.seal('correct horse', about))
  expect(new Set(seals.flatMap((seal) => seal.split('.').slice(2))).size).toBe(200)
  for (const form of ['correct horse', Buffer.from('correct horse').toString('base64url'), first])
    expect(seals.join('\n')).not.toContain(form)
})

test('[O-10] every byte that is another one is noticed', () => {
  const [version, id, ...parts] = ring.seal('correct horse battery staple', about).split('.')
  for (const [at, part] of parts.entries()) {
    const bytes = Buffer.from(part, 'base64url')
    for (let byte = 0; byte < bytes.length; byte++) {
      for (const bit of [1, 128]) {
        const flipped = Buffer.from(bytes)
        flipped[byte] = (flipped[byte] ?? 0) ^ bit
        const seal = [version, id, ...parts.with(at, flipped.toString('base64url'))].join('.')
        expect(codeOf(() => ring.open(seal, about))).toBe('SECRET_UNREADABLE')
      }
    }
  }
})

test('[O-10] every character that is another one is noticed, also where base64 would decode to the same bytes', () => {
  const seal = ring.seal('correct horse battery staple', about)
  const other = fc.constantFrom(...Array.from('ABYZabyz0189-_.=+/ \n\0ä'))
  fc.assert(
    fc.property(fc.nat(seal.length - 1), other, (at, char) => {
      fc.pre(seal[at] !== char)
      const changed = seal.slice(0, at) + char + seal.slice(at + 1)
      expect(codeOf(() => ring.open(changed, about))).toMatch(/^(?:SECRET_UNREADABLE|MASTER_KEY_UNKNOWN)$/)
    }),
    { numRuns: 2_000 },
  )
  for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_')
    if (!seal.endsWith(char)) expect(codeOf(() => ring.open(seal.slice(0, -1) + char, about))).toBe('SECRET_UNREADABLE')
})

test('[O-10] a seal that is cut, lengthened or mixed with another one does not open', () => {
  const [one, two] = [ring.seal('one', about), ring.seal('two', about)]
  const [version, id, key] = one.split('.')
  const mixed = [version, id, key, two.split('.')[3]].join('.')
  const wrong = ['', 'v1', `${one}.`, `${one}.x`, one.slice(3), `v2${one.slice(2)}`, one.toUpperCase(), mixed]
  for (let length = 0; length < one.length; length++) wrong.push(one.slice(0, length))
  for (const seal of wrong) expect(codeOf(() => ring.open(seal, about))).toMatch(/^(?:SECRET_UNREADABLE|MASTER_KEY_UNKNOWN)$/)
})

test('[O-10] a seal opens under its own name and purpose only', () => {
  fc.assert(
    fc.property(text, text, text, text, (purpose, name, otherPurpose, otherName) => {
      fc.pre(purpose !== otherPurpose || name !== otherName)
      const seal = ring.seal('value', { purpose, name })
      expect(codeOf(() => ring.open(seal, { purpose: otherPurpose, name: otherName }))).toBe('SECRET_UNREADABLE')
    }),
  )
  const seal = ring.seal('value', { purpose: 'a', name: 'b,c' })
  expect(codeOf(() => ring.open(seal, { purpose: 'a,b', name: 'c' }))).toBe('SECRET_UNREADABLE')
})

describe('[O-10] with several keys', () => {
  const [old, both, fresh] = [ring, KeyRing.fromText(`${second},${first}`), KeyRing.fromText(second)]

  test('[O-10] the first one seals and all of them open', () => {
    const before = old.seal('value', about)
    const after = both.seal('value', about)
    expect(both.open(before, about).reveal()).toBe('value')
    expect(fresh.open(after, about).reveal()).toBe('value')
    expect([both.current, both.ids]).toEqual([fresh.current, [fresh.current, old.current]])
  })

  test('[O-10] a key that this process does not have is named, with what to do', () => {
    expect(() => fresh.open(old.seal('value', about), about)).toThrow(
      `Secret "github.token" was sealed with master key ${old.current}, and this process has ${fresh.current}. Add the missing key`,
    )
  })

  test('[O-10] a seal that claims another key does not open', () => {
    const claimed = old.seal('value', about).replace(old.current, fresh.current)
    expect(codeOf(() => both.open(claimed, about))).toBe('SECRET_UNREADABLE')
  })
})

test.for<[problem: string, text: string]>([
  ['holds no key', ''],
  ['holds no key', ' , \n'],
  ['key 1 is not written in base64', 'not base64!'],
  ['key 1 has 5 bytes and needs 32', Buffer.from('short').toString('base64')],
  ['key 1 has 31 bytes and needs 32', Buffer.alloc(31, 'ab').toString('base64')],
  ['key 2 has 33 bytes and needs 32', `${first},${Buffer.alloc(33, 'ab').toString('base64')}`],
  ['key 1 is not random', Buffer.alloc(32).toString('base64')],
  ['key 1 is not random', Buffer.alloc(32, 'a').toString('base64')],
  ['holds a key twice', `${first},${second},${first}`],
  ['holds more than 20 keys', Array.from({ length: 21 }, generateMasterKey).join()],
])('[O-10] a master key that cannot be used is refused: %s', ([problem, text]) => {
  expect(() => KeyRing.fromText(text)).toThrow(
    `The master key of SLUICE_MASTER_KEY cannot be used: ${problem}. A key is 32 random bytes`,
  )
})

test('[O-10] keys are read however base64 writes them', () => {
  const bytes = Buffer.from(first, 'base64')
  for (const written of [first, first.replace(/=+$/, ''), bytes.toString('base64url'), ` ${first}\n`])
    expect(KeyRing.fromText(written).current).toBe(ring.current)
  expect(KeyRing.fromText(`${first}\n${second} , ${third}`).ids).toHaveLength(3)
})

test('[O-10] a key ring shows no key, and no message does', () => {
  const both = KeyRing.fromText(`${first},${second}`)
  const shown = [
    inspect(both, { showHidden: true, depth: null }),
    JSON.stringify(both),
    inspect(structuredClone(both)),
    String(codeOf(() => KeyRing.fromText(`${first},${first}`))),
    ...[`${first},${first}`, `${first}x`, first.slice(1)].map((wrong) => {
      try {
        return inspect(KeyRing.fromText(wrong))
      } catch (error) {
        return inspect(error, { depth: null, showHidden: true })
      }
    }),
  ].join('\n')
  for (const key of [first, second])
    for (const form of [key.slice(1, 40), Buffer.from(key, 'base64').toString('hex')]) expect(shown).not.toContain(form)
})

test.for<[unknown, RegExp]>([
  ['x'.repeat(65_537), /^Option value: has more than 65536 bytes\.$/],
  ['a\uD800b', /^Option value: holds half of a surrogate pair/],
  [42, /^Option value: must be text\.$/],
  [undefined, /^Option value: must be text\.$/],
])('[O-10] what is no value is refused without being shown', ([value, message]) => {
  expect(() => ring.seal(value as string, about)).toThrow(message)
})
