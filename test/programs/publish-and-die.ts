/**
 * Publishes an event in a transaction of its own and kills itself as soon as the commit is answered, or, told to `leave` early, right before it.
 * It defines the event and no subscriber.
 */
import { createEngine, silentLog } from '@sluice/engine'
import pg from 'pg'
import { say, settings } from './channel.ts'
import { stepTold } from './step-kinds.ts'

const engine = createEngine({ database: settings.database, events: [stepTold], log: silentLog })
await engine.migrate()
const client = new pg.Client(settings.database)
await client.connect()
await client.query('begin')
const { id } = await engine.publish(stepTold({ n: 1 }), { client })
if (settings['leave'] !== 'before commit') await client.query('commit')
say({ published: id })
process.kill(process.pid, 'SIGKILL')
