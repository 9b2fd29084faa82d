/** docs/engine.md is true: it names every option and every method that there is, and none that there is not. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createEngine } from './create-engine.ts'
import { Engine } from './engine.ts'

const page = readFileSync(new URL('../../../docs/engine.md', import.meta.url), 'utf8')
const [, options = '', methods = ''] = /## `createEngine([^]*)## Methods([^]*)## Tests/.exec(page) ?? []
/** The words in front of each row of a table. */
const firstWords = (table: string): string[] =>
  [...table.matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, cell = '']) => [...cell.matchAll(/`(\w+)/g)].map(([, word = '']) => word))

test('[E-28] every option of an engine is on its page, and no other', () => {
  const source = readFileSync(new URL('options.ts', import.meta.url), 'utf8')
  const [, body = ''] = /export interface EngineOptions \{([^]*?)\n\}/.exec(source) ?? []
  const defined = [...body.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, name = '']) => name)
  expect(defined.length).toBeGreaterThan(20)
  expect(firstWords(options).toSorted()).toEqual(defined.toSorted())
})

test('[E-28] every method and every room of an engine is on its page, and no other', async () => {
  const engine = createEngine({ database: 'postgresql://nobody@localhost/nowhere' })
  const rooms = Object.keys(engine)
  const own = Object.getOwnPropertyNames(Engine.prototype).filter((name) => name !== 'constructor')
  expect(firstWords(methods).toSorted()).toEqual([...own, ...rooms].toSorted())
  await engine.stop()
})
