/** Requests by chance to every route, from its own description. */
import fc from 'fast-check'
import { expect } from 'vitest'
import { requestFor } from '../../../../test/support/http-arbitrary.ts'
import { describeApi, nameOf } from '../../../../test/support/http-description.ts'
import { test } from '../../../../test/support/http-scene.ts'

const stack = /\n\s+at |\bat \S+ \(|\.[jt]s:\d+|node_modules|select .* from sluice|\bpg_/

test('[O-03] whatever is sent to whichever route, it answers as documented, without a stack trace', { timeout: 120_000 }, async ({
  http,
}) => {
  const { app } = await http()
  const description = await describeApi(app)
  const runs = Number(process.env['SLUICE_CHANCES'] ?? 25)
  for (const operation of description.operations.filter(({ path }) => path !== '/api/events')) {
    await fc.assert(
      fc.asyncProperty(requestFor(description, operation), async ({ url, body, headers }) => {
        const payload =
          body === undefined ? {} : { payload: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } }
        const answer = await app.inject({ method: operation.method, url, ...payload })
        // A name in the address may hold a slash or nothing, and then it is another address.
        const documented = [...operation.statuses, 404, 405, 414]
        expect(documented, `${nameOf(operation)} ${url} ${JSON.stringify(body)}: ${answer.body}`).toContain(answer.statusCode)
        if (operation.path !== '/readyz') expect([503, 504], answer.body).not.toContain(answer.statusCode)
        if (answer.statusCode >= 400) expect(answer.body).not.toMatch(stack)
        expect(String(answer.headers['set-cookie'] ?? '')).not.toContain('evil')
      }),
      { numRuns: runs },
    )
  }
})
