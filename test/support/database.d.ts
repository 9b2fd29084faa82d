/**
 * Fixtures for tests on a real database: `database` is the file's own copy of the migrated template, `client` a connection to it for
 * looking at tables, `engines` makes engines on it and stops them afterwards.
 */
import { type Engine, type EngineOptions } from '@sluice/engine'
import { type TestDatabase } from '@sluice/local-postgres/testing'
import pg from 'pg'
export interface Fixtures {
  /** Own database of the test, dropped afterwards. */
  database: TestDatabase
  client: pg.Client
  /** Makes an engine on `database`; it is stopped when the test ends. Not started. */
  engines: (options?: Partial<EngineOptions>) => Engine
}
export declare const test: import('vitest').TestAPI<{
  client: import('pg').Client
  database: TestDatabase
  engines: (options?: Partial<EngineOptions>) => Engine
}>
/** Waits until `look` gives something, looking again and again; fails after `deadlineMs`. For what other processes do. */
export declare function eventually<T>(
  look: () => Promise<T | undefined | false> | T | undefined | false,
  deadlineMs?: number,
): Promise<T>
//# sourceMappingURL=database.d.ts.map
