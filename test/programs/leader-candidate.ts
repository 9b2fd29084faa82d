/**
 * A process that runs no jobs and may lead. Every few milliseconds it looks whether it believes that it leads, and it says each stretch of
 * time in which it did, from the first look that found so to the last.
 */
import { createEngine, type EngineOptions } from '@sluice/engine'
import { onTold, say, settings } from './channel.ts'

const engine = createEngine({ pools: {}, ...(settings as EngineOptions) })
let stretch: { fromMs: number; toMs: number } | undefined

function look(): void {
  // The process may be put aside at any point: it led for certain from after its first look to before its last.
  const beforeMs = Date.now()
  const { leads } = engine.status()
  const afterMs = Date.now()
  if (leads) {
    if (!stretch) say({ leadsSince: afterMs })
    stretch = { fromMs: stretch?.fromMs ?? afterMs, toMs: beforeMs }
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
