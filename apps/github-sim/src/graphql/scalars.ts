/**
 * Scalars of GitHub's schema. Times are milliseconds inside and whole seconds in ISO 8601 outside.
 */
import { GraphQLError, type GraphQLScalarType, Kind, type ValueNode } from 'graphql'

/** Without the milliseconds, which are always zero. */
export const isoTime = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`

function readTime(value: unknown): number {
  const ms = typeof value === 'string' && /^\d{4}-\d\d-\d\d/.test(value) ? Date.parse(value) : Number.NaN
  if (Number.isNaN(ms)) throw new GraphQLError('not a time in ISO 8601')
  return ms
}

function readSha(value: unknown): string {
  if (typeof value !== 'string' || !/^[0-9a-f]{40}$/i.test(value)) throw new GraphQLError('not a Git object ID')
  return value.toLowerCase()
}

const reads = <T>(read: (value: unknown) => T) => ({
  parseValue: read,
  parseLiteral: (node: ValueNode) => read(node.kind === Kind.STRING ? node.value : undefined),
})

const time: Partial<GraphQLScalarType> = { serialize: (value) => isoTime(value as number), ...reads(readTime) }

export const scalars: Readonly<Record<string, Partial<GraphQLScalarType>>> = {
  DateTime: time,
  GitTimestamp: time,
  GitObjectID: { serialize: String, ...reads(readSha) },
  BigInt: { serialize: String },
}
