/**
 * What became of a repository that was not listed, or that answered "not found" for a part of it. Deleted is said only if its own id answers so, and with
 * a token that works: another one would have been refused. One that is there was left by the user, or by the list.
 */
import { defineKind, done, type Outcome } from '@sluice/engine'
import { z } from 'zod'
import { changeRepositoryState, findRepository, renameRepository } from '../repository/repository.ts'
import { ask } from './ask.ts'
import { number, patient, priorities, scope } from './list-item.ts'
import { verifyName } from './verify-request.ts'
import type { Services } from './workshop.ts'

const answer = z.object({ id: number, name: z.string(), owner: z.object({ id: number, login: z.string() }) })
const payload = z.object({ ...scope, id: number })

export const verifyRepository = defineKind(verifyName, {
  payload,
  priority: priorities.child,
  retry: patient,
  lane: 'github:{owner}:core',
  async run(job, { collector }: Services): Promise<Outcome> {
    const { collection, run, id } = job.payload
    const asked = await ask(
      job,
      collector,
      { path: `/repositories/${id}` },
      {
        schema: answer,
        repository: { collection, run, id },
        gone: () => done({ write: (tx) => changeRepositoryState(tx, collection, id, 'deleted') }),
      },
    )
    if (asked.type === 'over') return asked.outcome
    if (asked.type === 'not modified') return done()
    const { name, owner } = asked.data
    const stored = await findRepository(collector.engine, collection, id)
    return done({
      write: async (tx) => {
        await renameRepository(tx, collection, { id, name, ownerId: owner.id, ownerLogin: owner.login })
        // One that was listed is there; only a part of it is missing.
        if (stored && stored.seenRun !== run) await changeRepositoryState(tx, collection, id, 'left')
      },
    })
  },
})
