/**
 * Kinds in every shape an end can have: nothing, a write, jobs that come next, both; and one that tells another by an event. What happens while a handler runs is the stage's
 * business, so that one set of kinds serves every scene, in this process and in others.
 */
import { type AnyKind, defineEvent, defineKind, delays, done, type JobContext, type TransactionClient } from '@sluice/engine'
import { z } from 'zod'

export interface Stage {
  /** Every handler comes through here, and ends when this does. */
  readonly enter: (context: JobContext<unknown>) => Promise<void> | void
}

/** The effects that count: a table without a constraint, so that a second row would be seen. */
export const effectTable = 'create table effect (job bigint not null, kind text not null)'

export const childrenEach = 2

const retry = delays(['50ms', '50ms', '50ms', '50ms', '50ms', '50ms'])

function leaveEffect({ id, kind }: JobContext<unknown>) {
  return (tx: TransactionClient) => tx.query('insert into effect (job, kind) values ($1, $2)', [id, kind])
}

const children = () => Array.from({ length: childrenEach }, (_, child) => stepWrite({ child }))

export const stepPlain = defineKind<z.ZodObject, Stage>('step.plain', {
  retry,
  async run(context, stage) {
    await stage.enter(context)
    return done()
  },
})

export const stepWrite = defineKind<z.ZodObject, Stage>('step.write', {
  payload: z.looseObject({}),
  retry,
  async run(context, stage) {
    await stage.enter(context)
    return done({ write: leaveEffect(context) })
  },
})

export const stepNext = defineKind<z.ZodObject, Stage>('step.next', {
  retry,
  async run(context, stage) {
    await stage.enter(context)
    return done({ next: children() })
  },
})

export const stepBoth = defineKind<z.ZodObject, Stage>('step.both', {
  retry,
  async run(context, stage) {
    await stage.enter(context)
    return done({ write: leaveEffect(context), next: children() })
  },
})

export const stepTold = defineEvent('step.told', { payload: z.object({ n: z.number() }) })

export const stepTell = defineKind<z.ZodObject<{ n: z.ZodNumber }>, Stage>('step.tell', {
  payload: z.object({ n: z.number() }),
  retry,
  async run(context, stage) {
    await stage.enter(context)
    return done({ write: leaveEffect(context), publish: [stepTold(context.payload)] })
  },
})

export const stepHear = defineKind<z.ZodObject<{ n: z.ZodNumber }>, Stage>('step.hear', {
  payload: z.object({ n: z.number() }),
  on: [stepTold],
  retry,
  async run(context, stage) {
    await stage.enter(context)
    return done({ write: leaveEffect(context) })
  },
})

export const stepKinds: readonly AnyKind[] = [stepPlain, stepWrite, stepNext, stepBoth, stepTell, stepHear]
