/**
 * The simulator from its start to its end: says where it listens and with which tokens, and goes on until told to stop.
 */
import { once } from 'node:events'
import { type Duration, toMs } from '@sluice/engine'
import { type GithubSim, startGithubSim } from '@sluice/github-sim'
import { RoleError } from '@sluice/server'
import { exit } from '../session/exit.ts'
import type { Call } from '../session/tree.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { usualPeople } from './people.ts'

export async function runSim({ session, options }: Call): Promise<number> {
  session.stopsInOrder = true
  const people = (options['people'] as string[] | undefined) ?? usualPeople
  const sim = await startGithubSim(settingsOf(people, options)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error
    throw new RoleError(
      'ADDRESS_IN_USE',
      { address: `127.0.0.1:${(error as { port?: number }).port ?? ''}`, flag: '--port or --admin-port' },
      error,
    )
  })
  session.onEnd(() => sim.stop())
  const tokens = people.map((login) => ({ login, token: sim.tokenOf(login) }))
  session.output.answer({ url: sim.url, graphqlUrl: sim.graphqlUrl, adminUrl: sim.adminUrl, tokens }, (terminal) =>
    greet(sim, tokens, terminal),
  )
  if (!session.interrupted.aborted) await once(session.interrupted, 'abort')
  return exit.ok
}

function settingsOf(people: readonly string[], options: Readonly<Record<string, unknown>>): Parameters<typeof startGithubSim>[0] {
  const number = (name: string): number | undefined => options[name] as number | undefined
  const given = {
    port: number('port'),
    adminPort: number('adminPort'),
    limit: number('limit'),
    graphqlLimit: number('limit'),
    latencyMs: number('latency'),
    windowMs: options['window'] === undefined ? undefined : toMs(options['window'] as Duration),
  }
  return {
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    seed: number('seed') ?? 1,
    people: people.map((login) => ({
      login,
      repositories: number('repositories') ?? 10,
      commits: number('commits') ?? 500,
      issues: number('issues') ?? 80,
      pullRequests: number('pulls') ?? 40,
      ownPullRequestsElsewhere: people.length > 1 ? 6 : 0,
    })),
  }
}

function greet(
  { url, adminUrl }: GithubSim,
  tokens: readonly { readonly login: string; readonly token: string }[],
  terminal: Terminal,
): string {
  const width = Math.max(...tokens.map(({ login }) => login.length))
  const [first] = tokens
  return [
    `${terminal.paint('green', 'A GitHub')} on ${terminal.paint('bold', url)}, process ${process.pid}`,
    `  admin   ${adminUrl}`,
    ...tokens.map(({ login, token }, at) => `  ${at === 0 ? 'tokens' : '      '}  ${login.padEnd(width)}  ${token}`),
    `  try     GITHUB_API_URL=${url} GITHUB_TOKEN=${first?.token ?? ''} sluice collect ${first?.login ?? ''}`,
    '',
  ].join('\n')
}
