/**
 * An answer as the rules read it: parsed once, with the words to look for and the times in the local clock.
 */
import { type Budget, readBudget, readRetryAfter, readServerTime, type ServerTime } from '../budget/budget.ts'
import type { Flaw } from '../call/send.ts'

/** What was asked; the same answer means different things to different questions. */
export interface Asked {
  readonly kind: 'rest' | 'graphql'
  /** An ETag was sent. */
  readonly conditional: boolean
  readonly url: string
  /** Where links may lead. */
  readonly origin: string
  /** What GitHub's formula says about the query; 1 for REST. */
  readonly points: number
}

/** What `classify` decides from, and nothing else. */
export interface Evidence {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly flaw: Flaw | undefined
}

export interface Reading extends Evidence {
  readonly asked: Asked
  /** Undefined when the body is not JSON. */
  readonly json: unknown
  /** The server's message, for people: short, one line. */
  readonly message: string
  /** Where the rules look for words: the message, or the beginning of a body that is not JSON. */
  readonly words: string
  readonly documentationUrl: string
  readonly time: ServerTime
  readonly budget: Budget | undefined
  readonly retryAfterMs: number | undefined
}

const wordsLengthMax = 2_000
const messageLengthMax = 300

export function read(asked: Asked, evidence: Evidence, now: number): Reading {
  const { status, headers, text, flaw } = evidence
  const json = flaw === undefined ? parse(text) : undefined
  const said = textOf(fieldOf(json, 'message'))
  const time = readServerTime(headers, now)
  return {
    ...evidence,
    asked,
    json,
    message: said === '' ? describe(evidence, json) : short(said),
    words: json === undefined ? text.slice(0, wordsLengthMax) : said.slice(0, wordsLengthMax),
    documentationUrl: textOf(fieldOf(json, 'documentation_url')).slice(0, wordsLengthMax),
    time,
    budget: readBudget(status, headers, asked.kind === 'rest' ? 'core' : 'graphql', time),
    retryAfterMs: readRetryAfter(headers, time),
  }
}

/** What can be said of an answer without a message. */
function describe({ status, text, flaw }: Evidence, json: unknown): string {
  if (flaw) return `status ${status}, the body ${flaw === 'timed out' ? flaw : `is ${flaw}`}`
  return json === undefined && text !== '' ? `status ${status}, not JSON` : `status ${status}`
}

/** One line of at most 300 characters, without characters that a terminal obeys. */
export function short(text: string): string {
  const line = text
    .slice(0, wordsLengthMax)
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
  return line.length > messageLengthMax ? `${line.slice(0, messageLengthMax - 1)}…` : line
}

/** The field of anything: of what is no object it is undefined. */
export const fieldOf = (value: unknown, field: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, field)
    ? (value as Record<string, unknown>)[field]
    : undefined

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
