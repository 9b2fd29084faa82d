/**
 * From what came back to what it means: a pure function of the answer, the question and the local time. It has an answer to
 * everything, however broken, and never throws.
 */
import { readCount } from '../budget/budget.ts'
import type { Unheard } from '../call/send.ts'
import type { Answer, Said } from './answer.ts'
import { graphqlRules } from './graphql-rules.ts'
import { type Asked, type Evidence, fieldOf, type Reading, read } from './reading.ts'
import { restRules } from './rest-rules.ts'

const pollSecondsMax = 86_400

export function classify(asked: Asked, evidence: Evidence, now: number): Answer<unknown> {
  const reading = read(asked, evidence, now)
  const pollSeconds = readCount(evidence.headers.get('x-poll-interval'))
  return {
    status: evidence.status,
    budget: reading.budget,
    cost: costOf(reading),
    servedAt: new Date(reading.time.servedAt),
    pollIntervalMs: pollSeconds === undefined ? undefined : Math.min(pollSeconds, pollSecondsMax) * 1000,
    ...decide(reading),
  }
}

/** No answer: a connection that failed, or the time was up. */
export function unheard(asked: Asked, { problem, sent, at }: Unheard): Answer<never> {
  const heard = { status: 0, budget: undefined, cost: sent ? asked.points : 0, servedAt: new Date(at), pollIntervalMs: undefined }
  return { ...heard, type: 'server trouble', message: problem, retryAfterMs: undefined }
}

function decide(reading: Reading): Said<unknown> {
  const rules = reading.asked.kind === 'rest' ? restRules : graphqlRules
  for (const [applies, say] of rules) if (applies(reading)) return say(reading)
  return { type: 'malformed', message: `status ${reading.status}` }
}

/** A 304 is free. GraphQL says its own price if asked; else the formula's is the best guess. */
function costOf({ status, asked, json }: Reading): number {
  if (status === 304) return 0
  const told = asked.kind === 'graphql' ? fieldOf(fieldOf(fieldOf(json, 'data'), 'rateLimit'), 'cost') : undefined
  return typeof told === 'number' && Number.isInteger(told) && told >= 0 && told <= 1_000_000 ? told : asked.points
}
