/**
 * Careless tester: a program that starts a test server and never stops it. It ends when it is told to, by a signal, or with
 * the test that started it.
 */
import { startTestServer } from '../testing/test-server.ts'

process.on('disconnect', () => process.exit())
process.on('message', () => process.exit())
await startTestServer()
process.send?.('started')
