/**
 * Four projects: `unit` sits beside the code, `guarantees` are the promises of the whole machine with real processes, `guarantees over Redis` are
 * those of them that do not depend on who dispatches, once more over Redis, and `check` holds the rules of the house (style, arrows, golden schema) and is
 * what `npm run check` runs.
 *
 * Tests read the packages' sources, not their build, through the export condition `@sluice/source`. Nothing under `dist`
 * is ever a test: test sources are compiled for their types and for the child programs only.
 */
import { defineConfig } from 'vitest/config'
import { FileOrder } from './test/support/file-order.ts'
import { memoryFolder } from './test/support/memory-folder.ts'
import { isMissing } from './test/support/missing-servers.ts'

const memory = process.env['TMPDIR'] ? undefined : memoryFolder()
if (memory) process.env['TMPDIR'] = memory

const source = {
  resolve: { conditions: ['@sluice/source'] },
  ssr: { resolve: { conditions: ['@sluice/source', 'node'] } },
}
const exclude = ['**/node_modules/**', '**/dist/**']
const overEither = [
  'all-or-nothing',
  'bad-row',
  'big-ids',
  'cancel',
  'events',
  'load-with-chaos',
  'owner-pause',
  'poison',
  'run-time-limit',
  'runs-complete-once',
  'survives-postgres-restart',
  'unknown-kind',
  'zombie',
]

export default defineConfig({
  ...source,
  test: {
    // One server for all projects.
    globalSetup: ['test/support/server.ts'],
    reporters: ['default', 'json'],
    outputFile: { json: '.reports/vitest.json' },
    sequence: { shuffle: true, sequencer: FileOrder },
    // On two cores Vitest would run one file at a time, and most files wait: for leases, for processes, for PostgreSQL. Three take a fifth less time than two.
    maxWorkers: 3,
    projects: [
      {
        ...source,
        test: {
          name: 'unit',
          include: ['{packages,apps}/*/src/**/*.test.ts', 'test/*.test.ts'],
          exclude: [...exclude, 'test/tidy.test.ts'],
          restoreMocks: true,
          testTimeout: 90_000,
          hookTimeout: 60_000,
        },
      },
      {
        ...source,
        test: {
          name: 'guarantees',
          include: ['test/guarantees/**/*.test.ts'],
          exclude,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      ...(isMissing('redis-server')
        ? []
        : [
            {
              ...source,
              test: {
                name: 'guarantees over Redis',
                include: overEither.map((name) => `test/guarantees/${name}.test.ts`),
                globalSetup: ['test/support/server-of-redis.ts'],
                testTimeout: 120_000,
                hookTimeout: 120_000,
              },
            },
          ]),
      {
        ...source,
        test: {
          name: 'check',
          include: ['test/check/**/*.test.ts', 'test/tidy.test.ts'],
          exclude,
          testTimeout: 90_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
})
