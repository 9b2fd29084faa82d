/**
 * Installs Debian packages without starting what is in them.
 *
 * Debian starts a server as soon as it is installed, and a test machine must not end up with servers that nobody asked for.
 * `policy-rc.d` is Debian's own way to say no: it is put in place for the time of the installation and taken away again,
 * also when the installation is interrupted. A file that is there already is kept, set aside meanwhile if it says yes.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'

const policy = '/usr/sbin/policy-rc.d'
const setAside = `${policy}.before-sluice`
const sayNo = '#!/bin/sh\n# Nothing is started while Sluice installs its test servers.\nexit 101\n'
const lockWaitSeconds = 300

/** What apt knows of these packages; a release of Debian does not have all of them. */
export function availablePackages(packages: readonly string[]): string[] {
  apt('apt-get', ['update', '-qq'])
  return packages.filter((name) => apt('apt-cache', ['show', '--no-all-versions', name]).ok)
}

/** Installs all of them at once and answers how it went; it never throws, because tests go on without. */
export function installPackages(packages: readonly string[]): { ok: boolean; output: string } {
  const allowStarts = forbidStarts()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130)) // after the `finally` below
  try {
    const options = ['-y', '-qq', '--no-install-recommends', '-o', `DPkg::Lock::Timeout=${lockWaitSeconds}`]
    return apt('apt-get', ['install', ...options, ...packages])
  } finally {
    allowStarts()
  }
}

function forbidStarts(): () => void {
  const exists = existsSync(policy)
  if (exists && readFileSync(policy, 'utf8').includes('exit 101')) return () => {}
  if (exists) renameSync(policy, setAside)
  writeFileSync(policy, sayNo)
  chmodSync(policy, 0o755)
  return () => (exists ? renameSync(setAside, policy) : rmSync(policy))
}

function apt(command: string, args: readonly string[]): { ok: boolean; output: string } {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const { status, stdout, stderr } = spawnSync(command, args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  return { ok: status === 0, output: `${stdout}${stderr}` }
}
