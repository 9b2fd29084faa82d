/**
 * `sluice config`: every field, its value, and where it came from. Secrets are left out.
 */
import { describeConfig } from '@sluice/server'
import type { Call } from '../session/tree.ts'
import { renderTable } from '../terminal/table.ts'

export async function showConfig({ session }: Call): Promise<void> {
  const fields = describeConfig(await session.config())
  session.output.answer({ fields }, (terminal) =>
    renderTable(
      [
        { title: 'field', value: ({ name }) => name },
        {
          title: 'value',
          value: ({ value }) => textOf(value),
          least: 16,
          paint: ({ from }) => (from === 'default' ? 'dim' : undefined),
        },
        {
          title: 'from',
          value: ({ from, place }) => (from === 'default' ? 'default' : place),
          least: 10,
          paint: ({ from }) => (from === 'default' ? 'dim' : 'cyan'),
        },
      ],
      fields,
      terminal,
    ),
  )
}

function textOf(value: unknown): string {
  if (value === null) return '–'
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.length === 0 ? '–' : value.join(', ')
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return Object.entries(value as Record<string, { core: number; max: number }>)
    .map(([name, { core, max }]) => `${name}=${core}-${max}`)
    .join(',')
}
