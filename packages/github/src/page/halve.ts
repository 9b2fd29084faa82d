/**
 * The next smaller page after an answer that was too heavy. The steps are GitHub's own advice in practice: 100, 50, 25, 10, and
 * at the end single items, so that one item too heavy to compute cannot hide its neighbours.
 */
const steps = [100, 50, 25, 10, 5, 2, 1]

export function halve(pageSize: number, min = 1): number | undefined {
  if (!(pageSize > min)) return undefined
  return Math.max(min, steps.find((step) => step <= pageSize / 2) ?? 1)
}
