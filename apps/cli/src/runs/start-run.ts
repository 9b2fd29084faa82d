/**
 * Starts a run, and with `--wait` shows how far it is until its end. The exit code is that of the run.
 */
import type { Engine, Run } from '@sluice/engine'
import { loadModules } from '@sluice/server'
import { CommandError, exit } from '../session/exit.ts'
import { follow } from '../session/follow.ts'
import { withMeantKind } from '../session/meant-kind.ts'
import { readPayload } from '../session/payload.ts'
import type { Session } from '../session/session.ts'
import { tellIfNobody, tellIfStuck } from '../session/tell-if-nobody.ts'
import type { Call } from '../session/tree.ts'
import { Bar } from '../terminal/bar.ts'
import { plain } from '../terminal/text.ts'
import { span } from '../terminal/times.ts'

const beatMs = 2_000
const restMs = 100

export async function startRun({ session, args: [name = ''], options }: Call): Promise<number> {
  const payload = await readPayload(options['payload'] as string | undefined, session.process.stdin)
  const modules = await loadModules(await session.config())
  const { engine } = await session.system()
  const kind = modules.runs.find(({ kindName }) => kindName === name) ?? name
  const owner = options['owner'] as string | undefined
  const request =
    typeof kind === 'string'
      ? { kind, payload, ...(owner === undefined ? {} : { owner }) }
      : kind(payload, owner === undefined ? {} : { owner })
  session.stopsInOrder = options['wait'] === true // before there is a run: whoever interrupts is told that it goes on
  const run = await withMeantKind(engine, name, engine.runs.start(request, { trigger: 'command line' }))
  if (options['wait'] !== true) {
    session.output.answer(run, () => `Run ${run.id} is started.`)
    await tellIfNobody(session, engine, run.rootJob)
    return exit.ok
  }
  session.output.say(`Run ${run.id} is started.`)
  await tellIfStuck(session, engine, run.rootJob)
  const ended = await waitForRun(session, engine, run.id)
  session.output.answer(ended, () => describeEnd(ended))
  return ended.state === 'completed' && ended.failed === 0 ? exit.ok : exit.failure
}

async function waitForRun(session: Session, engine: Engine, id: number): Promise<Run> {
  const bar = new Bar(session.process.stderr, session.output.side)
  try {
    for await (const _ of follow(engine, { topics: ['runs', 'jobs'], beatMs, restMs, signal: session.interrupted })) {
      const run = await engine.runs.find(id)
      if (!run) throw new CommandError(exit.notFound, 'UNKNOWN_RUN', `Run ${id} is gone.`)
      const failed = run.failed > 0 ? `, ${run.failed} failed` : ''
      await bar.show(run.total - run.pending, run.total, `${run.state}${failed}`)
      if (run.finishedAt !== null) return run
    }
  } finally {
    bar.end() // before anything else is said
  }
  throw new CommandError(
    exit.interrupted,
    'INTERRUPTED',
    `Run ${id} goes on without you. \`sluice runs show ${id}\` tells how it ended.`,
  )
}

function describeEnd(run: Run): string {
  const took = run.finishedAt ? ` in ${span(run.finishedAt.getTime() - run.createdAt.getTime())}` : ''
  const parts = [
    `${run.succeeded} succeeded`,
    run.failed ? `${run.failed} failed` : '',
    run.canceled ? `${run.canceled} canceled` : '',
  ]
  return `Run ${run.id} ${run.state}${took}: ${parts.filter((part) => part !== '').join(', ')}${run.error ? `. ${plain(run.error.message)}` : '.'}`
}
