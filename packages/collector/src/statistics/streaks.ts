/**
 * Streaks: days in a row on which somebody committed, by the author's date in UTC.
 *
 * A day is a number of days since 1970. The current streak may end yesterday: today is not over. Days that have not come yet are a wrong clock or a joke,
 * and count for nothing.
 */
export interface Streaks {
  readonly activeDays: number
  readonly longestStreak: number
  readonly currentStreak: number
}

export function countStreaks(days: Iterable<number>, today: number): Streaks {
  const sorted = [...new Set(days)].filter((day) => day <= today).toSorted((a, b) => a - b)
  let longest = 0
  let length = 0
  let last = Number.NEGATIVE_INFINITY
  for (const day of sorted) {
    length = day === last + 1 ? length + 1 : 1
    longest = Math.max(longest, length)
    last = day
  }
  return { activeDays: sorted.length, longestStreak: longest, currentStreak: last >= today - 1 ? length : 0 }
}
