/** A sealed value: none of the ways in which values end up in logs, answers and errors shows it. */
import { format, inspect } from 'node:util'
import { deserialize, serialize } from 'node:v8'
import { expect, test } from 'vitest'
import { SluiceError, storeError } from '../support/errors.ts'
import { Sealed } from './sealed.ts'

const value = 'correct horse battery staple'
const sealed = new Sealed(value)
const inside = { token: sealed, list: [sealed], map: new Map([['token', sealed]]), set: new Set([sealed]) }

test('[O-10] a sealed value gives its value to whoever asks for it by name', () => {
  expect(sealed.reveal()).toBe(value)
})

test.for<[how: string, shown: () => unknown]>([
  ['String()', () => String(sealed)],
  ['a template', () => `it is ${sealed as unknown as string}`],
  ['concatenation', () => (sealed as unknown as string) + ''],
  ['arithmetic', () => Number(sealed)],
  ['toLocaleString', () => sealed.toLocaleString()],
  ['JSON', () => JSON.stringify(sealed)],
  ['JSON of what holds it', () => JSON.stringify({ ...inside, list: inside.list })],
  ['inspect', () => inspect(sealed)],
  ['inspect of everything there is', () => inspect(inside, { showHidden: true, depth: null, getters: true, showProxy: true })],
  [
    'inspect that ignores how we want to be shown',
    () => inspect(inside, { customInspect: false, showHidden: true, depth: null }),
  ],
  ['console.log with every placeholder', () => format('%s %o %O %j %d', sealed, sealed, sealed, sealed, sealed)],
  [
    'a plain copy',
    () => inspect({ copy: Object.assign({}, sealed), keys: Reflect.ownKeys(sealed), entries: Object.entries(sealed) }),
  ],
  ['structuredClone', () => inspect(structuredClone(inside), { showHidden: true, depth: null })],
  ['v8.serialize', () => serialize(inside).toString('latin1') + inspect(deserialize(serialize(inside)), { depth: null })],
  ['an error message', () => inspect(new Error(`no route for ${sealed as unknown as string}`))],
  ['an error that carries it', () => inspect(Object.assign(new Error('no', { cause: sealed }), { sealed }), { depth: null })],
  ['an error of ours', () => inspect(new SluiceError('UNKNOWN_KIND', { kind: sealed as unknown as string }), { depth: null })],
  ['an error as a job stores it', () => JSON.stringify([storeError(sealed), storeError({ sealed })])],
  ['the text of its class', () => sealed.constructor.toString()],
])('[O-10] it is not shown by %s', ([, shown]) => {
  expect(String(shown())).not.toContain('horse')
})

test('[O-10] it says that something was left out', () => {
  expect([String(sealed), JSON.stringify({ sealed }), inspect({ sealed })]).toEqual([
    '[redacted]',
    '{"sealed":"[redacted]"}',
    '{ sealed: [redacted] }',
  ])
})

test('[O-10] it cannot be given another face', () => {
  expect(() => Object.assign(sealed, { toJSON: () => sealed.reveal() })).toThrow(TypeError)
})
