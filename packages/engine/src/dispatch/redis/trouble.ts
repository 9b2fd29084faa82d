/**
 * What an error of Redis means.
 */

/** FLUSHALL, XGROUP DESTROY, DEL, a restart without persistence: the group is made again and the leader looks. */
export function isGroupGone(error: unknown): boolean {
  return /NOGROUP|no such key|unblocked/i.test(String(error))
}

/** Not PostgreSQL's, whose trouble passes without Redis. */
export function isRedisTrouble(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return (
    /ReplyError|MaxRetries|AbortError|ClusterAllFailed/.test(error.name) ||
    unconnected.test(error.message) ||
    late.test(error.message)
  )
}

const unconnected =
  /writeable|Connection is closed|connection to Redis|ECONN|EPIPE|max retries|Redis is not connected|slots cache/i
const late = /Command timed out|ETIMEDOUT/

/** For the status of an engine and its log. */
export function explainTrouble(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  if (late.test(message)) return 'Redis gives no answer'
  if (unconnected.test(message)) return 'Redis is not there'
  if (message.includes('OOM')) return 'Redis is full: raise its maxmemory'
  return `Redis refuses: ${message}`
}
