/**
 * A process that runs no jobs and may lead. Every few milliseconds it looks whether it believes that it leads, and it says each stretch of
 * time in which it did, from the first look that found so to the last.
 */
import { createEngine, type EngineOptions } from '@sluice/engine'
import { onTold, say, settings } from './channel.ts'

const engine = createEngine({ pools: {}, ...(settings as EngineOptions) })
let stretch: { fromMs: number; toMs: number } | undefined

function look(): void {
  const nowMs = Date.now()
  if (engine.status().leads) {
    if (!stretch) say({ leadsSince: nowMs })
    stretch = { fromMs: stretch?.fromMs ?? nowMs, toMs: nowMs }
  } else if (stretch) {
    say({ led: stretch })
    stretch = undefined
  }
}

onTold(({ report }) => {
  if (!report) return
  look()
  say({ reported: true, ...(stretch ? { led: stretch } : {}) })
})
await engine.start()
say({ worker: engine.status().worker })
setInterval(look, 3)
