import { expect, test } from 'vitest'
import { importedBy, withoutComments } from './source.ts'

test.each([
  ["import { a } from './a.ts'", ['./a.ts']],
  ["import type { A } from './a.ts'", ['./a.ts']],
  ["import a, * as b from './a.ts'", ['./a.ts']],
  ["import './a.ts'", ['./a.ts']],
  ["import {\n  a,\n  type B,\n} from './a.ts'", ['./a.ts']],
  ["export * from './a.ts'\nexport type { B } from './b.ts'", ['./a.ts', './b.ts']],
  ["const a = await import('./a.ts')", ['./a.ts']],
  ["let a: import('./a.ts').A", ['./a.ts']],
  ["const glob = 'src/**'\nconst a = await import('./a.ts') // **/", ['./a.ts']],
  ["const quote = /['\"`]/\nconst a = await import('./a.ts')", ['./a.ts']],
])('%j names its modules', (text, expected) => expect(importedBy(text)).toEqual(expected))

test.each([
  "// import { a } from './a.ts'",
  "/*\nimport { a } from './a.ts'\n*/",
  "const text = `\nimport { a } from './a.ts'\n`",
  "export const from = './a.ts'",
  "export function a() {\n  return 'b'\n}",
  'const a = await import(path)',
])('%j names no module', (text) => expect(importedBy(text)).toEqual([]))

test('comments go, strings and lines stay', () => {
  expect(withoutComments("const a = 'b // c' // d\n/* e\n */ f")).toBe("const a = 'b // c'     \n    \n    f")
})
