/**
 * All commands of `sluice`. Read this file to know what there is.
 */
import { completionLeaf } from './completion/commands.ts'
import { roleLeaves } from './roles/commands.ts'
import type { Tree } from './session/program.ts'
import { setupLeaves } from './setup/commands.ts'

const group = (name: string, leaves: readonly import('./session/tree.ts').Leaf[]) =>
  leaves.map((leaf) => ({ ...leaf, group: name }))

export const tree: Tree = {
  verbs: [...group('Run:', roleLeaves), ...group('Set up:', [...setupLeaves, completionLeaf])],
  nouns: [],
}
