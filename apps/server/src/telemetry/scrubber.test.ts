/** Secrets are found in whatever form they turn up, and ordinary text is left alone. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Scrubber, secretCharsMin } from './scrubber.ts'

const secret = 'p@ss "w\\rd"/é+9'

function scrubberOf(...values: string[]): Scrubber {
  const scrubber = new Scrubber()
  for (const value of values) scrubber.hide(value)
  return scrubber
}

test.each([
  ['as it is', (value: string) => value],
  ['in JSON', (value: string) => JSON.stringify({ a: value })],
  ['in JSON in JSON', (value: string) => JSON.stringify(JSON.stringify({ a: value }))],
  ['URL-encoded', (value: string) => `https://x.example/?q=${encodeURIComponent(value)}&r=1`],
  ['URL-encoded in lower case', (value: string) => encodeURIComponent(value).replace(/%../g, (part) => part.toLowerCase())],
  ['as a form field', (value: string) => new URLSearchParams({ a: value }).toString()],
  ['in base64', (value: string) => Buffer.from(value).toString('base64')],
  ['in base64 for addresses', (value: string) => Buffer.from(value).toString('base64url')],
  ['in base64 behind one byte', (value: string) => Buffer.from(`u${value}!`).toString('base64')],
  ['in base64 behind two bytes', (value: string) => Buffer.from(`u:${value}!`).toString('base64')],
  ['in base64 behind a name', (value: string) => Buffer.from(`user:${value}`).toString('base64')],
  ['in hex', (value: string) => Buffer.from(value).toString('hex')],
])('[O-10] a registered secret is taken out %s', (_, form) => {
  const found = secret.replaceAll(' ', '_')
  const clean = scrubberOf(found).scrub(`before ${form(found)} after`)
  expect(clean).toContain('[redacted]')
  expect(clean).toMatch(/^before .* after$/)
  // The edges of a base64 text hold a few bits that neighbours share; all that depends on the secret alone is gone.
  expect(clean.length).toBeLessThan(form(found).length + 'before  after[redacted]'.length)
  expect(clean).not.toContain(form(found).slice(3, -3))
})

test('[O-10] whatever stands around a secret, it does not come through in any form', () => {
  const text = fc.string({ minLength: secretCharsMin, maxLength: 40, unit: 'binary' })
  fc.assert(
    fc.property(text, fc.string(), fc.string(), (value, before, after) => {
      const scrubber = scrubberOf(value)
      const encode = (part: string) => encodeURIComponent(part.toWellFormed())
      for (const form of [(part: string) => part, (part: string) => JSON.stringify(part).slice(1, -1), encode])
        expect(scrubber.scrub(before + form(value) + after).includes(form(value)), form(value)).toBe(
          '[redacted]'.includes(form(value)),
        )
    }),
  )
})

test('[O-10] of two secrets that begin alike neither leaves its end behind', () => {
  expect(scrubberOf('opensesame', 'opensesame-twice').scrub('a opensesame-twice b opensesame c')).toBe(
    'a [redacted] b [redacted] c',
  )
})

test('[O-10] a value too short to be told from ordinary text is refused', () => {
  const scrubber = new Scrubber()
  expect(scrubber.hide('abc')).toBe(false)
  expect(scrubber.scrub('abc')).toBe('abc')
  expect(scrubber.hide('abcdef')).toBe(true)
})

test.each([
  ['postgresql://app:hunter2@db.example/app', 'postgresql://app:[redacted]@db.example/app'],
  ['cannot connect to postgres://:x@h', 'cannot connect to postgres://:[redacted]@h'],
  [`key sluice_ab12cd34ef_${'x'.repeat(43)} used`, 'key sluice_ab12cd34ef_[redacted] used'],
  ['authorization: Bearer abc.def-ghi', 'authorization: Bearer [redacted]'],
  ['{"h":"Basic dXNlcjpwYXNz"}', '{"h":"Basic [redacted]"}'],
])('[O-10] %s is a secret by its shape', (text, clean) => {
  expect(new Scrubber().scrub(text)).toBe(clean)
})

test.each([
  'job done in 12 ms',
  'http://localhost:7070/api/jobs',
  'sluice_jobs_enqueued_total{kind="mail"} 3',
  'postgresql://db.example/app at 10:30',
])('[O-10] ordinary text is left alone: %s', (text) => {
  expect(scrubberOf('unrelated secret').scrub(text)).toBe(text)
})
