/** Churn's deeds by name, with what each takes. `repo` is an id or `owner/name`. */
import { z } from 'zod'
import type { Churn } from '../churn/churn.ts'

const repo = z.union([z.number().int(), z.string()])
const count = z.number().int().nonnegative().optional()
const inRepo = z.strictObject({ repo })
const shared = z.strictObject({ repo, login: z.string() })
const numbered = z.strictObject({ repo, number: count })

function deed<T extends z.ZodType>(takes: T, act: (churn: Churn, given: z.output<T>) => unknown) {
  return (churn: Churn, given: unknown) => act(churn, takes.parse(given))
}

const deeds: Readonly<Record<string, (churn: Churn, given: unknown) => unknown>> = {
  push: deed(z.strictObject({ repo, count }), (churn, given) => churn.push(given.repo, given.count)),
  lateMerge: deed(z.strictObject({ repo, count, daysOld: count }), (churn, given) =>
    churn.lateMerge(given.repo, given.count, given.daysOld),
  ),
  forcePush: deed(z.strictObject({ repo, dropped: count, added: count }), (churn, given) =>
    churn.forcePush(given.repo, given.dropped, given.added),
  ),
  openIssue: deed(inRepo, (churn, given) => churn.openIssue(given.repo)),
  closeIssue: deed(numbered, (churn, given) => churn.closeIssue(given.repo, given.number)),
  commentIssue: deed(numbered, (churn, given) => churn.commentIssue(given.repo, given.number)),
  deleteIssue: deed(numbered, (churn, given) => churn.deleteIssue(given.repo, given.number)),
  openPull: deed(z.strictObject({ repo, authorId: count }), (churn, given) => churn.openPull(given.repo, given.authorId)),
  mergePull: deed(numbered, (churn, given) => churn.mergePull(given.repo, given.number)),
  rename: deed(z.strictObject({ repo, name: z.string().optional() }), (churn, given) => churn.rename(given.repo, given.name)),
  renameWithReuse: deed(inRepo, (churn, given) => churn.renameWithReuse(given.repo)),
  transfer: deed(z.strictObject({ repo, to: z.string() }), (churn, given) => churn.transfer(given.repo, given.to)),
  invite: deed(shared, (churn, given) => churn.invite(given.repo, given.login)),
  dismiss: deed(shared, (churn, given) => churn.dismiss(given.repo, given.login)),
  setPrivate: deed(z.strictObject({ repo, hidden: z.boolean().optional() }), (churn, given) =>
    churn.setPrivate(given.repo, given.hidden),
  ),
  deleteRepo: deed(inRepo, (churn, given) => churn.deleteRepo(given.repo)),
  disablePulls: deed(inRepo, (churn, given) => churn.disablePulls(given.repo)),
  disableIssues: deed(inRepo, (churn, given) => churn.disableIssues(given.repo)),
  block: deed(z.strictObject({ repo, reason: z.enum(['dmca', 'tos']).optional() }), (churn, given) =>
    churn.block(given.repo, given.reason),
  ),
  unblock: deed(inRepo, (churn, given) => churn.unblock(given.repo)),
  guard: deed(z.strictObject({ repo, by: z.enum(['sso', 'ip']).nullable() }), (churn, given) =>
    churn.guard(given.repo, given.by),
  ),
  emptyRepo: deed(inRepo, (churn, given) => churn.emptyRepo(given.repo)),
  star: deed(z.strictObject({ repo, stars: count }), (churn, given) => churn.star(given.repo, given.stars)),
  createRepo: deed(z.strictObject({ owner: z.string(), name: z.string() }), (churn, given) =>
    churn.createRepo(given.owner, given.name),
  ),
  renameLogin: deed(z.strictObject({ login: z.string(), to: z.string().optional() }), (churn, given) =>
    churn.renameLogin(given.login, given.to),
  ),
  step: deed(
    z.strictObject({
      share: z.number().positive().max(1).optional(),
      logins: z.array(z.string()).optional(),
      gentle: z.boolean().optional(),
    }),
    (churn, given) => churn.step(given),
  ),
}

export function doDeed(churn: Churn, name: string, given: unknown): unknown {
  const act = Object.hasOwn(deeds, name) ? deeds[name] : undefined
  if (!act) throw new Error(`There is no deed "${name}". There are: ${Object.keys(deeds).join(', ')}.`)
  return act(churn, given)
}
