/** The door for tests of users: run handlers without a worker, turn the clock by hand. */
export { HandClock } from './hand-clock.ts'
export { runHandler } from './run-handler.ts'
export { createTestKit, type Ran, type TestKit, type TestKitOptions } from './test-kit.ts'
