/**
 * `status`: once, or as a page that stays. The page is drawn again when the engine hints that something changed, and by a slow beat, because times go on.
 */
import type { Engine } from '@sluice/engine'
import { exit } from '../session/exit.ts'
import { follow } from '../session/follow.ts'
import type { Session } from '../session/session.ts'
import type { Call } from '../session/tree.ts'
import { Screen } from '../terminal/screen.ts'
import { describeTerminal } from '../terminal/terminal.ts'
import { readStatus } from './read-status.ts'
import { renderStatus } from './render-status.ts'

const topics = ['jobs', 'runs', 'lanes', 'workers', 'schedules', 'events'] as const
const beatMs = 2_000
const restMs = 250

export async function showStatus({ session, options }: Call): Promise<number> {
  const { engine } = await session.system()
  if (options['watch'] === true) return watch(session, engine)
  const status = await readStatus(engine)
  session.output.answer(status, (terminal) => renderStatus(status, terminal))
  return exit.ok
}

async function watch(session: Session, engine: Engine): Promise<number> {
  session.stopsInOrder = true
  const { output, process, interrupted } = session
  const isLive = output.terminal.live && !output.json
  const screen = isLive ? new Screen(process) : undefined
  if (screen) session.onEnd(() => screen.close())
  const ending = AbortSignal.any([interrupted, ...(screen ? [screen.quit] : [])])
  let last = ''
  for await (const _ of follow(engine, { topics, beatMs, restMs, signal: ending })) {
    const page = await readStatus(engine).catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))))
    if (ending.aborted) break
    if (output.json) output.line(JSON.stringify(page instanceof Error ? { error: page.message } : page))
    else {
      const terminal = screen ? describeTerminal(process.stdout, process.env) : output.terminal
      const text = page instanceof Error ? terminal.paint('red', page.message) : renderStatus(page, terminal)
      if (screen) screen.draw(text)
      else if (text !== last) output.line(`${text}\n`)
      last = text
    }
  }
  return exit.ok
}
