/** [from, to) cut into days or hours. The last slice may be shorter. */
export interface Slice {
  readonly from: Date
  readonly to: Date
}

const lengths = { day: 86_400_000, hour: 3_600_000 } as const

export function sliceAt(range: Slice, slice: keyof typeof lengths, at: number): Slice | undefined {
  const from = range.from.getTime() + at * lengths[slice]
  if (from >= range.to.getTime()) return undefined
  return { from: new Date(from), to: new Date(Math.min(from + lengths[slice], range.to.getTime())) }
}

export function countSlices({ from, to }: Slice, slice: keyof typeof lengths): number {
  return Math.max(0, Math.ceil((to.getTime() - from.getTime()) / lengths[slice]))
}
