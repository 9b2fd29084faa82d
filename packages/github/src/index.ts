/**
 * A client for GitHub that never throws for what a server can do: every answer is a value that says what to do next.
 *
 *   const github = createGithub()
 *   const answer = await github.rest<Repository[]>({ token, path: '/user/repos', query: { per_page: 100 }, etag })
 *   if (answer.type === 'ok') store(answer.data, answer.etag, fingerprint(token)), walkOn(answer.next)
 *   else if (answer.type === 'primary limit') sleepUntil(answer.resetAt)
 *   else if (answer.type === 'too heavy') askAgainFor(halve(pageSize))
 *   // `answer.budget` is what the server says is left, `answer.cost` what this call took of it
 *
 * Nothing else of the package can be imported.
 */
export type { Answer, GraphqlError, Heard } from './answer/answer.ts'
export type { Budget } from './budget/budget.ts'
export { GithubError, type GithubErrorCode, githubErrors } from './errors.ts'
export { fingerprint } from './etag/fingerprint.ts'
export { createGithub, type Github, type GraphqlCall, type RestCall } from './github.ts'
export { countCost, type QueryCost } from './graphql/cost.ts'
export type { GithubOptions } from './options.ts'
export { halve } from './page/halve.ts'
export { readLinks } from './page/links.ts'
export { stepOn, type Trail } from './page/trail.ts'
export type { Token } from './token.ts'
