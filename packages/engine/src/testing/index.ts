/** The door for tests of users: run handlers without a worker, turn the clock by hand. */
export { HandClock } from './hand-clock.ts'
export type { TestKitOptions } from './kit-options.ts'
export { runHandler } from './run-handler.ts'
export { createTestKit, type Ran, type TestKit } from './test-kit.ts'
