/**
 * A worker for the kinds of step-kinds.ts that says what happens in it and, if it is told where, kills or stops itself there.
 *
 * Settings: `at` names a fail point or 'handler', `signal` is what the process sends itself when it first gets there. Handlers of `gated`
 * kinds wait until the test opens the gate; unless they are `stubborn` they give up when their signal is aborted. `workMs` is how long the
 * others take at most. SIGTERM stops the engine in order; the process then has to end by itself.
 */
import { createEngine, type EngineOptions, type JobContext } from '@sluice/engine'
import { onTold, say, settings } from './channel.ts'
import { type Stage, stepKinds } from './step-kinds.ts'

interface Scene extends EngineOptions {
  readonly at?: string
  readonly signal?: NodeJS.Signals
  readonly gated?: readonly string[]
  readonly stubborn?: boolean
  readonly workMs?: number
  readonly quiet?: boolean
}

const { at, signal = 'SIGKILL', gated = [], stubborn = false, workMs = 0, quiet = false, ...options } = settings as Scene

let open: () => void = () => {}
const opened = new Promise<void>((resolve) => {
  open = resolve
})

let armed = at !== undefined
function reach(place: string): void {
  if (!quiet) say({ point: place })
  if (!armed || place !== at) return
  armed = false
  say({ reached: place })
  process.kill(process.pid, signal)
}

async function enter(context: JobContext<unknown>): Promise<void> {
  if (!quiet) say({ started: context.id, kind: context.kind, attempt: context.attempt, atMs: Date.now() })
  context.signal.addEventListener('abort', () => say({ aborted: context.id, reason: String(context.signal.reason) }))
  reach('handler')
  if (workMs > 0) await new Promise((resolve) => setTimeout(resolve, Math.random() * workMs))
  if (!gated.includes(context.kind)) return
  await (stubborn ? opened : Promise.race([opened, untilAborted(context.signal)]))
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const giveUp = (): void => reject(new Error(`told to stop: ${String(signal.reason)}`))
    if (signal.aborted) giveUp()
    else signal.addEventListener('abort', giveUp)
  })
}

const stage: Stage = { enter }
const engine = createEngine({ kinds: stepKinds, services: stage, probe: reach, ...options })

onTold((message) => {
  if (message['open']) open()
})
process.once('SIGTERM', () => {
  void engine.stop().then(() => say({ stopped: Date.now() }))
})

await engine.start()
say({ worker: engine.status().worker })
