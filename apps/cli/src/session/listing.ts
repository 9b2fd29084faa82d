/**
 * A page of a list: the rows on standard output; beside them where it goes on and how far it looked.
 */
import type { Listed } from '@sluice/engine'
import { type Column, renderTable } from '../terminal/table.ts'
import { exact } from '../terminal/times.ts'
import type { Session } from './session.ts'

export function answerList<Row>(session: Session, page: Listed<Row>, columns: readonly Column<Row>[], nothing: string): void {
  const { items, next, looked } = page
  const { output } = session
  if (output.json || items.length > 0)
    output.answer(
      { items, next: next ?? null, ...(looked ? { looked: { rows: looked.rows, until: looked.until ?? null } } : {}) },
      (terminal) => renderTable(columns, items, terminal),
    )
  if (output.json) return
  if (items.length === 0) output.say(nothing)
  if (looked?.until) output.say(`Looked at the newest ${looked.rows}, back to ${exact(looked.until, session.now())}.`)
  if (next) output.say(`More: --cursor ${next}`)
}
