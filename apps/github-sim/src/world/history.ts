/**
 * The order of `git log`: newest committer date first among the commits whose children have been seen. A heap holds the
 * frontier, so 100,000 commits take a fraction of a second.
 */
import type { Commit } from './model.ts'

export function logOrder(find: (sha: string) => Commit | undefined, head: string | null): Commit[] {
  const order: Commit[] = []
  if (head === null) return order
  const seen = new Set<string>()
  const frontier: Entry[] = []
  let arrivals = 0
  const discover = (sha: string) => {
    if (seen.has(sha)) return
    const commit = find(sha)
    if (!commit) return
    seen.add(sha)
    push(frontier, { commit, arrival: arrivals++ })
  }
  discover(head)
  for (let entry = pop(frontier); entry; entry = pop(frontier)) {
    order.push(entry.commit)
    for (const parent of entry.commit.parents) discover(parent)
  }
  return order
}

export function reachableFrom(find: (sha: string) => Commit | undefined, from: string): Set<string> {
  const seen = new Set<string>()
  const open = [from]
  for (let sha = open.pop(); sha !== undefined; sha = open.pop()) {
    if (seen.has(sha)) continue
    const commit = find(sha)
    if (!commit) continue
    seen.add(sha)
    open.push(...commit.parents)
  }
  return seen
}

interface Entry {
  readonly commit: Commit
  readonly arrival: number
}

const comesFirst = (a: Entry, b: Entry) =>
  a.commit.committedAt > b.commit.committedAt || (a.commit.committedAt === b.commit.committedAt && a.arrival < b.arrival)

function push(heap: Entry[], entry: Entry): void {
  let at = heap.length
  heap.push(entry)
  while (at > 0) {
    const above = (at - 1) >> 1
    const parent = heap[above] as Entry
    if (!comesFirst(entry, parent)) break
    heap[at] = parent
    at = above
  }
  heap[at] = entry
}

function pop(heap: Entry[]): Entry | undefined {
  const first = heap[0]
  const last = heap.pop()
  if (first === undefined || last === undefined || heap.length === 0) return first
  let at = 0
  for (;;) {
    let below = 2 * at + 1
    const left = heap[below]
    if (left === undefined) break
    const right = heap[below + 1]
    if (right !== undefined && comesFirst(right, left)) below++
    const child = heap[below] as Entry
    if (!comesFirst(child, last)) break
    heap[at] = child
    at = below
  }
  heap[at] = last
  return first
}
