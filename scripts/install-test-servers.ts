/**
 * Runs before the tests: brings the servers that some suites need, where that can be done without asking anybody.
 *
 * On Debian as root it installs what is missing; elsewhere it says which suites will be skipped and goes on. What is still
 * missing at the end is written to `.reports/missing-servers.json`, so that the suites and the report agree. When nothing is
 * missing it looks at a few files and is done.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { availablePackages, installPackages } from './debian.ts'
import { find, missingServers } from './test-servers.ts'

const reports = new URL('../../.reports/', import.meta.url)
const missingAtFirst = missingServers()

if (missingAtFirst.length > 0 && find('apt-get') && process.getuid?.() === 0)
  install(missingAtFirst.map((server) => server.debianPackage))

const missing = missingAtFirst.length > 0 ? missingServers() : []
for (const { name, suites } of missing)
  console.log(`test servers: ${name} is not here, so these are reported as skipped: ${suites}`)
mkdirSync(reports, { recursive: true })
writeFileSync(new URL('missing-servers.json', reports), `${JSON.stringify(missing.map(({ name }) => name))}\n`)

function install(packages: readonly string[]): void {
  console.log(`test servers: ${packages.join(', ')} missing, asking apt-get`)
  const available = availablePackages(packages)
  if (available.length === 0) return
  console.log(`test servers: installing ${available.join(', ')}; nothing of it is started`)
  const { ok, output } = installPackages(available)
  console.log(ok ? 'test servers: installed' : `test servers: apt-get failed\n${output.trim().split('\n').slice(-8).join('\n')}`)
}
