/**
 * The audit log: who did what, and who was turned away. It is only added to; entries go when they are old, and only by `prune`.
 */
import type { Engine, Listed, Page, TransactionClient } from '@sluice/engine'
import { SluiceError } from '@sluice/engine'
import sql, { empty } from 'sql-template-tag'
import { cleanText, type Detail, type Scrubs, writeDetail } from './audit-detail.ts'
import type { Caller } from './caller.ts'
import { readNumbered, toPage } from './page.ts'

export interface AuditEntry {
  /** Nobody, when it was refused before that was known. */
  readonly caller?: Caller | undefined
  readonly address: string | undefined
  /** What was done: one of the actions, or what happens at the door (`session.start`, `key.check`). */
  readonly action: string
  /** What it was done to: the id of a job, the name of a schedule. */
  readonly target?: string | undefined
  readonly detail?: Detail | undefined
  readonly outcome: 'done' | 'refused' | 'failed'
}

export interface AuditRow {
  readonly id: number
  readonly at: Date
  readonly callerKind: Caller['kind'] | 'none'
  readonly callerId: string | null
  readonly callerName: string | null
  readonly address: string | null
  readonly action: string
  readonly target: string | null
  readonly detail: Detail
  readonly outcome: AuditEntry['outcome']
}

export interface AuditFilter extends Page {
  readonly action?: string | undefined
  /** The id of a key, or `local`. */
  readonly caller?: string | undefined
}

const pruneBatchRows = 1_000
const keepDaysMax = 36_500

export class Audit {
  readonly #engine: Engine
  readonly #scrubber: Scrubs

  constructor(engine: Engine, scrubber: Scrubs) {
    this.#engine = engine
    this.#scrubber = scrubber
  }

  /** With a transaction of yours, the entry is there if and only if what it tells was done. */
  async record({ caller, address, action, target, detail = {}, outcome }: AuditEntry, tx?: TransactionClient): Promise<void> {
    const statement = sql`
      insert into sluice.audit (caller_kind, caller_id, caller_name, address, action, target, detail, outcome)
      values (${caller?.kind ?? 'none'}, ${this.#clean(caller?.id, 100)}, ${this.#clean(caller?.name, 200)}, ${this.#clean(address, 100)},
              ${this.#clean(action, 100)}, ${this.#clean(target, 500)}, ${writeDetail(detail, this.#scrubber)}::jsonb, ${outcome})`
    await (tx ? tx.query(statement.text, statement.values) : this.#engine.query(statement))
  }

  /** Newest first. */
  async list({ action, caller, ...page }: AuditFilter = {}): Promise<Listed<AuditRow>> {
    const { before, limit } = readNumbered('audit', page)
    const { rows } = await this.#engine.query<AuditRow>(sql`
      select id, at, caller_kind as "callerKind", caller_id as "callerId", caller_name as "callerName", address, action, target, detail, outcome
      from sluice.audit
      where id < ${before} ${action === undefined ? empty : sql`and action = ${this.#clean(action, 100)}`}
        ${caller === undefined ? empty : sql`and caller_id = ${this.#clean(caller, 100)}`}
      order by id desc
      limit ${limit + 1}`)
    return toPage('audit', rows, limit, ({ id }) => id)
  }

  /** Forgets what is older, a batch at a time; answers how many entries. */
  async prune({ keepDays }: { keepDays: number }): Promise<number> {
    if (!Number.isInteger(keepDays) || keepDays < 1 || keepDays > keepDaysMax)
      throw new SluiceError('INVALID_OPTION', { field: 'keepDays', problem: `must be a whole number from 1 to ${keepDaysMax}` })
    let gone = 0
    for (;;) {
      const { rows } = await this.#engine.query(sql`
        delete from sluice.audit
        where id = any(array(
          select a.id
          from sluice.audit a
          where a.at < sluice.now() - ${keepDays} * interval '1 day'
          order by a.at
          limit ${pruneBatchRows}
          for update skip locked))
        returning id`)
      gone += rows.length
      if (rows.length < pruneBatchRows) return gone
    }
  }

  #clean(text: string | undefined, charsMax: number): string | null {
    return text === undefined ? null : cleanText(text, this.#scrubber, charsMax)
  }
}
