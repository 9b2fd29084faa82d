/**
 * A worker with a kind that kills its process. In its first two attempts the deadly handler waits for `besides` neighbours before it does,
 * and they wait to be killed with it; from the third attempt on nobody waits. Every handler says who else was running when it started.
 */
import { createEngine, defineKind, done, type EngineOptions, type JobContext } from '@sluice/engine'
import { say, settings } from './channel.ts'

const { besides, ...options } = settings as unknown as EngineOptions & { besides: number }
const forEver = new Promise<void>(() => {})
const running = new Set<number>()
let crowd: () => void = () => {}
const crowded = new Promise<void>((resolve) => {
  crowd = resolve
})

function begin({ id, kind, attempt }: JobContext<unknown>): void {
  say({ started: id, kind, attempt, beside: [...running] })
  running.add(id)
}

/** The deadly one and the innocent ones wait for each other. */
let together = 0
function join(): void {
  together++
  if (together > besides) crowd()
}

const deadly = defineKind('poison.deadly', {
  async run(context) {
    begin(context)
    join()
    if (context.attempt < 3) await crowded
    process.kill(process.pid, 'SIGKILL')
  },
})

const innocent = defineKind('poison.innocent', {
  async run(context) {
    begin(context)
    join()
    if (context.attempt < 3) await forEver
    running.delete(context.id)
    return done({ write: (tx) => tx.query('insert into effect (job) values ($1)', [context.id]) })
  },
})

const bystander = defineKind('poison.bystander', {
  async run(context) {
    begin(context)
    running.delete(context.id)
    return done({ write: (tx) => tx.query('insert into effect (job) values ($1)', [context.id]) })
  },
})

const engine = createEngine({ kinds: [deadly, innocent, bystander], ...options })
await engine.start()
say({ worker: engine.status().worker })
