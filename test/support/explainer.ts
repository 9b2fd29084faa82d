/**
 * The plans that are really used inside functions, as auto_explain reports them to the session.
 */
import type pg from 'pg'

export interface Node {
  readonly 'Node Type': string
  readonly 'Parent Relationship'?: string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Join Filter'?: number
  readonly 'Shared Hit Blocks'?: number
  readonly 'Shared Read Blocks'?: number
  readonly Plans?: readonly Node[]
}

export interface Explained {
  readonly text: string
  readonly plan: Node
}

/** A session that keeps the plan of every statement it runs, nested ones included. */
export class Explainer {
  readonly #client: pg.Client
  #seen: Explained[] = []

  constructor(client: pg.Client) {
    this.#client = client
    client.on('notice', ({ message }) => {
      const json = /plan:\n([\s\S]*)$/.exec(message ?? '')?.[1]
      if (json === undefined) return
      const { 'Query Text': text, Plan: plan } = JSON.parse(json) as { 'Query Text': string; Plan: Node }
      this.#seen.push({ text, plan })
    })
  }

  async open(): Promise<void> {
    await this.#client.query(`load 'auto_explain'`)
    const settings = {
      log_min_duration: '0',
      log_nested_statements: 'on',
      log_analyze: 'on',
      log_timing: 'off',
      log_buffers: 'on',
      log_format: 'json',
    }
    for (const [name, value] of Object.entries(settings)) await this.#client.query(`set auto_explain.${name} = '${value}'`)
    await this.#client.query('set client_min_messages = log')
  }

  /** Runs a named statement, as the engine does, undoes it, and gives the plans that touch jobs, or one of `tables`. */
  async explain(
    name: string,
    text: string,
    values: unknown[],
    off: string[] = [],
    tables: readonly string[] = ['job'],
  ): Promise<{ plans: Explained[]; rows: unknown[] }> {
    await this.#client.query('begin')
    for (const setting of off) await this.#client.query(`set local ${setting} = off`)
    this.#seen = []
    const { rows } = await this.#client.query({ name, text, values, rowMode: 'array' })
    // The plan of the outermost statement comes when its portal goes.
    await this.#client.query('rollback')
    const touches = ({ plan }: Explained) => nodes(plan).some((node) => tables.includes(node['Relation Name'] ?? ''))
    return { plans: this.#seen.filter(touches), rows }
  }
}

export const nodes = (plan: Node): Node[] => [plan, ...(plan.Plans ?? []).flatMap(nodes)]

export const show = (plan: Node, depth = 0): string =>
  `${'  '.repeat(depth)}${plan['Node Type']} ${plan['Index Name'] ?? plan['Relation Name'] ?? ''} rows=${plan['Actual Rows']} loops=${
    plan['Actual Loops']
  } removed=${plan['Rows Removed by Filter'] ?? 0}\n${(plan.Plans ?? []).map((one) => show(one, depth + 1)).join('')}`
