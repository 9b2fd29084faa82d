import { defineConfig } from 'vitest/config'

/**
 * Three projects: `unit` sits beside the code, `guarantees` are the promises of the whole machine with real processes,
 * `check` holds the rules of the house (style, arrows, golden schema) and is what `npm run check` runs.
 */
const source = { resolve: { conditions: ['@sluice/source'] }, ssr: { resolve: { conditions: ['@sluice/source', 'node', 'import'] } } }

export default defineConfig({
  test: {
    reporters: ['default', ['json', { outputFile: '.reports/vitest.json' }]],
    sequence: { shuffle: true },
    projects: [
      {
        ...source,
        test: {
          name: 'unit',
          include: ['packages/*/src/**/*.test.ts', 'test/*.test.ts'],
          exclude: ['test/check/**'],
          globalSetup: ['test/support/server.ts'],
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        ...source,
        test: {
          name: 'guarantees',
          include: ['test/guarantees/**/*.test.ts'],
          globalSetup: ['test/support/server.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        ...source,
        test: {
          name: 'check',
          include: ['test/check/**/*.test.ts'],
          globalSetup: ['test/support/server.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
})
