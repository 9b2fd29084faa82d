import { readFileSync } from 'node:fs'
import { Ajv, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import { describe, expect, test } from 'vitest'
import { ada, openSim } from './open-sim.ts'

/**
 * Every kind of answer against GitHub's own description. The copy says where it comes from; a field that goes missing or
 * changes its type is found here.
 */
const described = JSON.parse(readFileSync(new URL('openapi-answers.json', import.meta.url), 'utf8')) as {
  answers: Record<string, object>
  $defs: Record<string, object>
}
const ajv = new Ajv({ strict: false, allErrors: true })
formats.default(ajv)
ajv.addSchema(described, 'github')
const validator = (path: string) => ajv.getSchema(`github#/answers/${path.replaceAll('/', '~1')}`) as ValidateFunction

const repo = '/repos/{owner}/{repo}'
const asked: [described: string, path: string][] = [
  ['/user', '/user'],
  ['/users/{username}', '/users/contributor-1'],
  ['/users/{username}', '/users/ada'],
  ['/user/{account_id}', '/user/950'],
  ['/users/{username}/repos', '/users/ada/repos'],
  ['/user/repos', '/user/repos?per_page=100'],
  [repo, '/repositories/100001'],
  [`${repo}/commits`, '/repositories/100001/commits?per_page=100'],
  [`${repo}/commits/{ref}`, '/repositories/100001/commits/main'],
  [`${repo}/compare/{basehead}`, '/repositories/100001/compare/FIRST...main'],
  [`${repo}/issues`, '/repositories/100001/issues?state=all&per_page=100'],
  [`${repo}/issues/{issue_number}`, '/repositories/100001/issues/1'],
  [`${repo}/pulls`, '/repositories/100001/pulls?state=all&per_page=100'],
  [`${repo}/pulls/{pull_number}`, '/repositories/100001/pulls/PULL'],
  [`${repo}/issues/{issue_number}/comments`, '/repositories/100001/issues/TALK/comments'],
  [`${repo}/branches`, '/repositories/100001/branches'],
  ['/users/{username}/events', '/users/ada/events?per_page=100'],
  ['/search/issues', '/search/issues?q=author:ada'],
  ['/rate_limit', '/rate_limit'],
]

describe("GitHub's description", () => {
  test.each(asked)('[G-07] answers to %s fit it: %s', async (path, url) => {
    const open = await openSim({ people: [{ ...ada, repositories: 1 }] })
    open.sim.churn.push(100_001, 2)
    const first = open.sim.world.commits(100_001).at(-1)!.sha
    const talk = open.sim.world.issues(100_001).find(({ comments }) => comments > 1)!.number
    const pull = open.sim.world.pulls(100_001)[0]!.number
    const { status, body } = await open.ask(
      url.replace('FIRST', first).replace('PULL', String(pull)).replace('TALK', String(talk)),
    )
    expect(status).toBe(200)
    if (Array.isArray(body)) expect(body.length).toBeGreaterThan(0)
    const validate = validator(path)
    validate(body)
    expect(validate.errors?.slice(0, 5) ?? []).toEqual([])
  })

  test('[G-07] the description bites: an answer with a field missing does not fit', async () => {
    const open = await openSim()
    const { body } = await open.ask('/user')
    const { login: _login, ...rest } = body as Record<string, unknown>
    expect(validator('/user')(rest)).toBe(false)
  })
})
