/**
 * Fixture for tests of the command line against a GitHub on this machine: `github` has two people and their tokens, and the environment that points there.
 */
import { generateMasterKey } from '@sluice/engine'
import { type GithubSim, startGithubSim } from '@sluice/github-sim'
import { test as base } from './sluice.ts'

export interface SmallGithub {
  readonly sim: GithubSim
  /** For `acorn`. */
  readonly env: Record<string, string>
  readonly token: string
  envOf(login: string): Record<string, string>
}

const size = { repositories: 4, commits: 120, issues: 30, pullRequests: 20, ownPullRequestsElsewhere: 2 }

export const test = base.extend<{ github: SmallGithub }>({
  // oxlint-disable-next-line no-empty-pattern -- Vitest reads the pattern to know what a fixture needs
  github: async ({}, use) => {
    const sim = await startGithubSim({ people: ['acorn', 'birch'].map((login) => ({ login, ...size })) })
    const masterKey = generateMasterKey()
    const envOf = (login: string): Record<string, string> => ({
      GITHUB_API_URL: sim.url,
      GITHUB_TOKEN: sim.tokenOf(login),
      SLUICE_MASTER_KEY: masterKey,
    })
    await use({ sim, env: envOf('acorn'), token: sim.tokenOf('acorn'), envOf })
    await sim.stop()
  },
})
