import { execFile, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { ada, openSim } from './open-sim.ts'

const program = fileURLToPath(new URL('collect-with-pygithub.py', import.meta.url))
/** The first one on the path need not be Debian's, which is the one that has the package. */
const python = ['python3', '/usr/bin/python3'].find((one) => spawnSync(one, ['-c', 'import github']).status === 0)

describe.skipIf(python === undefined)('python3-github', () => {
  test('[G-07] PyGithub, pointed at the Enterprise address, collects everything', async () => {
    const open = await openSim({ people: [{ ...ada, repositories: 2, commits: 60 }] })
    const { stdout } = await promisify(execFile)(python!, [program, `${open.sim.url}/api/v3`, open.sim.tokenOf('ada')])
    const truth = open.sim.world.groundTruth('ada')!
    expect(JSON.parse(stdout)).toEqual(
      Object.fromEntries(
        truth.repositories.map(({ id }) => [
          id,
          {
            commits: truth.commits[id]!.length,
            issues: truth.issues[id]!.length,
            pulls: truth.pulls[id]!.length,
            additions: truth.commits[id]![0]!.additions,
          },
        ]),
      ),
    )
  })
})
