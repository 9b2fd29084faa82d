/** What was collected, line by line. */
import type { Engine } from '@sluice/engine'

export const exportable = ['repositories', 'commits', 'issues', 'pull-requests', 'events', 'statistics'] as const

export type ExportWhat = (typeof exportable)[number]

export const exportFormats = ['jsonl', 'csv'] as const

export type ExportFormat = (typeof exportFormats)[number]

export interface ExportWish {
  readonly userId: number
  readonly what: ExportWhat
  readonly format: ExportFormat
  /** Default: the live one. */
  readonly collection?: number | undefined
}

export async function* exportLines(_engine: Engine, _wish: ExportWish): AsyncIterable<string> {
  yield 'to come'
}
