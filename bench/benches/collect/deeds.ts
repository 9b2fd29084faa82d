/**
 * What happens to the repositories of the churned person besides the everyday: each rare deed at an hour of its own, to a repository of its own, so that
 * none covers up another. Those that can be undone are undone later.
 */
export type Deed = readonly [name: string, words: object]

/** By hour. Repositories come largest first; the largest ones bear the deeds on histories. */
export function nasty(repositories: readonly number[], neighbour: string): Readonly<Record<number, readonly Deed[]>> {
  const at = (place: number): number => repositories[place % repositories.length] ?? 0
  return {
    1: [['lateMerge', { repo: at(0), count: 5, daysOld: 30 }]],
    2: [['forcePush', { repo: at(1), dropped: 3, added: 2 }]],
    3: [['rename', { repo: at(2) }]],
    4: [['renameWithReuse', { repo: at(3) }]],
    5: [['transfer', { repo: at(4), to: neighbour }]],
    6: [['deleteRepo', { repo: at(5) }]],
    7: [['disablePulls', { repo: at(6) }]],
    8: [['emptyRepo', { repo: at(7) }]],
    9: [['block', { repo: at(8), reason: 'dmca' }]],
    10: [['guard', { repo: at(9), by: 'sso' }]],
    11: [
      ['forcePush', { repo: at(0), dropped: 40, added: 1 }],
      ['lateMerge', { repo: at(0), count: 3, daysOld: 90 }],
    ],
    12: [['disableIssues', { repo: at(10) }]],
    13: [['createRepo', { owner: 'churned', name: 'brand-new' }]],
    14: [['push', { repo: at(7), count: 4 }]], // no longer empty
    15: [['unblock', { repo: at(8) }]],
    16: [['guard', { repo: at(9), by: null }]],
    17: [['renameLogin', { login: 'churned', to: 'churned-renamed' }]],
    18: [['forcePush', { repo: at(11), dropped: 1, added: 0 }]],
    19: [['block', { repo: at(12), reason: 'tos' }]],
    20: [['push', { repo: at(13), count: 150 }]],
    21: [['renameWithReuse', { repo: at(2) }]],
    22: [
      ['transfer', { repo: at(14), to: 'example-org' }],
      ['rename', { repo: at(14) }],
    ],
    23: [['deleteRepo', { repo: at(15) }]],
    24: [['lateMerge', { repo: at(1), count: 4, daysOld: 3 }]],
  }
}

interface Done {
  readonly deed: string
  readonly detail?: unknown
}

/** How many things changed: commits that came or went, or one issue, pull request or repository. */
export function itemsOf(done: readonly Done[]): number {
  return done.reduce((total, { deed, detail }) => {
    if (deed === 'nothing' || detail === undefined || detail === null) return total
    const { added, dropped } = detail as { added?: unknown[]; dropped?: unknown[] }
    return total + (added || dropped ? (added?.length ?? 0) + (dropped?.length ?? 0) : 1)
  }, 0)
}
