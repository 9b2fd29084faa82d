/**
 * Which of the servers that npm cannot bring are missing, so that a suite that needs one is skipped by name and never silently.
 */
import { existsSync, readFileSync } from 'node:fs'
import { missingServers } from '#scripts/test-servers'

const report = new URL('../../.reports/missing-servers.json', import.meta.url)

/** Named by the report of the last installation, or not to be found now. */
export function isMissing(name: string): boolean {
  const reported = existsSync(report) ? (JSON.parse(readFileSync(report, 'utf8')) as string[]) : []
  return reported.includes(name) || missingServers().some((server) => server.name === name)
}
