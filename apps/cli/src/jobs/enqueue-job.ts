/**
 * Makes a job, and with `--wait` stays until it has ended. Where modules are configured, the payload is checked by the kind's own schema before
 * it is stored; the handler checks it again in any case.
 */
import type { AnyKind, Engine, Job, JobOptions } from '@sluice/engine'
import { loadModules, ping } from '@sluice/server'
import { CommandError, exit } from '../session/exit.ts'
import { follow } from '../session/follow.ts'
import { withMeantKind } from '../session/meant-kind.ts'
import { readPayload } from '../session/payload.ts'
import type { Session } from '../session/session.ts'
import { tellIfNobody, tellIfStuck } from '../session/tell-if-nobody.ts'
import type { Call } from '../session/tree.ts'
import { StatusLine } from '../terminal/status-line.ts'
import { plain } from '../terminal/text.ts'
import { span } from '../terminal/times.ts'

const beatMs = 2_000

export async function enqueueJob({ session, args: [name = ''], options }: Call): Promise<number> {
  const payload = await readPayload(options['payload'] as string | undefined, session.process.stdin)
  const modules = await loadModules(await session.config())
  const kinds: AnyKind[] = [ping, ...modules.kinds, ...modules.runs.flatMap(({ kinds }) => kinds)]
  const { engine } = await session.system()
  const kind = kinds.find(({ kindName }) => kindName === name)
  session.stopsInOrder = options['wait'] === true // before there is a job: whoever interrupts is told that it goes on
  const wishes = jobOptions(options)
  const request = kind ? kind(payload, wishes) : { kind: name, payload, options: wishes }
  const { id, created } = await withMeantKind(engine, name, engine.enqueue(request))
  if (options['wait'] !== true) {
    session.output.answer({ id, created }, () =>
      created ? `Job ${id} is enqueued.` : `Job ${id} with the same key is live already.`,
    )
    await tellIfNobody(session, engine, id)
    return exit.ok
  }
  const job = await waitForEnd(session, engine, id)
  session.output.answer({ ...job, created }, () => describeEnd(job))
  return job.state === 'succeeded' ? exit.ok : exit.failure
}

function jobOptions(options: Readonly<Record<string, unknown>>): JobOptions {
  const { at, priority, ...rest } = options
  const names = ['delay', 'owner', 'lane', 'pool', 'key', 'dedupe', 'attempts', 'cost'] as const
  return {
    ...Object.fromEntries(names.filter((name) => rest[name] !== undefined).map((name) => [name, rest[name]])),
    ...(at === undefined ? {} : { runAt: at as Date }),
    ...(priority === undefined ? {} : { priority: Number(priority) }),
  }
}

async function waitForEnd(session: Session, engine: Engine, id: number): Promise<Job> {
  const line = new StatusLine(session.process.stderr, session.output.side)
  let told = await tellIfStuck(session, engine, id) // or it would wait without a word
  try {
    for await (const _ of follow(engine, { topics: ['jobs'], beatMs, signal: session.interrupted })) {
      const job = await engine.find(id)
      if (!job) throw new CommandError(exit.notFound, 'UNKNOWN_JOB', `Job ${id} is gone: finished, and forgotten meanwhile.`)
      if (job.finishedAt !== null || job.state === 'failed') return job
      if (!told && !session.output.side.live && job.state !== 'running') told = await tellIfStuck(session, engine, id)
      if (session.output.side.live) line.show(`job ${id} ${job.state}: ${plain((await engine.why(id)).text)}`)
    }
  } finally {
    line.end() // before anything else is said
  }
  throw new CommandError(
    exit.interrupted,
    'INTERRUPTED',
    `Job ${id} goes on without you. \`sluice jobs show ${id}\` tells how it ended.`,
  )
}

function describeEnd({ id, state, startedAt, finishedAt, error }: Job): string {
  const took = startedAt && finishedAt ? ` in ${span(finishedAt.getTime() - startedAt.getTime())}` : ''
  return `Job ${id} ${state}${took}${error ? `: ${plain(error.message)}` : '.'}`
}
