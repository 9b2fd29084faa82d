/** docs/access.md tells what the tables in the code say. */
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { actions } from './actions.ts'
import { refusals } from './refusal.ts'

/** The rows of the table under a heading: the back-ticked first cell, and the second one. */
async function rowsUnder(heading: string): Promise<Record<string, string>> {
  const text = await readFile(new URL('../../../../docs/access.md', import.meta.url), 'utf8')
  const section = text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? ''
  return Object.fromEntries(
    [...section.matchAll(/^\| `([\w.]+)` \| (\w+) \|/gm)].map(([, first = '', second = '']) => [first, second]),
  )
}

test('[O-09] every action is documented with its role', async () => {
  expect(await rowsUnder('Roles')).toEqual(actions)
})

test('[O-09] every refusal is documented with its status', async () => {
  const statuses = Object.entries(refusals).map(([code, { status }]) => [code, String(status)])
  expect(await rowsUnder('Refusals')).toEqual(Object.fromEntries(statuses))
})

test.for(Object.entries(refusals))('[O-09] %s says what to do', ([, { title, detail }]) => {
  expect(title).toMatch(/^[A-Z][^.]*$/)
  expect(detail).toMatch(/^[A-Z].*\.$/)
})
