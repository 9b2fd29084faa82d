/** The door for tests: a throw-away server, and a database of its own for each test file. */
export { createTestDatabase, type TestDatabase, type TestDatabaseOptions } from './test-database.ts'
export { startTestServer, type TestServer, type TestServerOptions } from './test-server.ts'
