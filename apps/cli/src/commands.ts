/**
 * All commands of `sluice`. Read this file to know what there is.
 */
import { collectLeaf } from './collect/commands.ts'
import { completionLeaf } from './completion/commands.ts'
import { demoLeaf } from './demo/commands.ts'
import { doctorLeaf } from './doctor/commands.ts'
import { events } from './events/commands.ts'
import { exportLeaf } from './export/commands.ts'
import { githubSimLeaf } from './github-sim/commands.ts'
import { jobs } from './jobs/commands.ts'
import { keys } from './keys/commands.ts'
import { kinds } from './kinds/commands.ts'
import { lanes } from './lanes/commands.ts'
import { owners } from './owners/commands.ts'
import { pools } from './pools/commands.ts'
import { roleLeaves } from './roles/commands.ts'
import { runs } from './runs/commands.ts'
import { schedules } from './schedules/commands.ts'
import { scoresLeaf } from './scores/commands.ts'
import type { Tree } from './session/program.ts'
import type { Leaf } from './session/tree.ts'
import { setupLeaves } from './setup/commands.ts'
import { shadowLeaf } from './shadow/commands.ts'
import { statusLeaf } from './status/commands.ts'
import { strategyLeaf } from './strategy/commands.ts'
import { users } from './users/commands.ts'
import { workers } from './workers/commands.ts'

const group = (name: string, leaves: readonly Leaf[]) => leaves.map((leaf) => ({ ...leaf, group: name }))

export const tree: Tree = {
  verbs: [
    ...group('Run:', [...roleLeaves, demoLeaf]),
    ...group('GitHub:', [collectLeaf, scoresLeaf, exportLeaf, shadowLeaf, strategyLeaf, githubSimLeaf]),
    ...group('Look and steer:', [statusLeaf]),
    ...group('Set up:', [...setupLeaves, doctorLeaf, completionLeaf]),
  ],
  nouns: [jobs, runs, kinds, pools, lanes, owners, schedules, workers, events, users, keys],
}
