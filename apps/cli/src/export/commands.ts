/**
 * `sluice export`: what was collected, for other programs.
 */
import { oneOf } from '../session/choices.ts'
import type { Leaf } from '../session/tree.ts'

const exported = ['repositories', 'commits', 'issues', 'pull-requests', 'events', 'statistics'] as const
const formats = ['jsonl', 'csv']

export const exportLeaf: Leaf = {
  usage: 'export <login>',
  about: 'what was collected of an account, as JSON Lines or CSV',
  choices: [
    { flags: '--what <rows>', about: `one of ${exported.join(', ')} (default commits)`, read: oneOf(exported), words: exported },
    { flags: '--format <format>', about: 'jsonl or csv (default jsonl)', read: oneOf(formats), words: formats },
    { flags: '-o, --out <file>', about: 'write to this file instead of standard output' },
  ],
  examples: [
    ['sluice export octocat --what commits --format csv --out commits.csv', 'for a spreadsheet'],
    ['sluice export octocat --what issues | jq .title', 'a line each'],
  ],
  load: async () => (await import('./export-rows.ts')).exportRows,
}
