/**
 * Which addresses are this machine, and what follows from it where no keys are asked for.
 *
 * Without keys only this machine is let in. Three things could pass off others as this machine, and each is turned away: a server bound to an outside
 * address, a page whose own name was made to point at 127.0.0.1 (its requests carry that name as Host), and a proxy on this machine (it says so by a header).
 */
import { isIPv4, isIPv6 } from 'node:net'
import { SluiceError } from '@sluice/engine'
import { type Asking, oneHeader } from './caller.ts'
import { type Refusal, refuse } from './refusal.ts'

export function isLoopback(address: string | undefined): boolean {
  const plain = address?.toLowerCase().replace(/^::ffff:(?=\d+\.)/, '') ?? ''
  return plain === '::1' || (isIPv4(plain) && plain.startsWith('127.'))
}

/** The same for the name of a host, as people and browsers write it: with brackets, with a port. */
function namesLoopback(host: string): boolean {
  if (!/^[\w.:[\]-]+$/.test(host) || !URL.canParse(`http://${host}`)) return false
  const { hostname } = new URL(`http://${host}`)
  return hostname === 'localhost' || isLoopback(hostname.replace(/^\[|\]$/g, ''))
}

/** To be asked before the server listens. */
export function checkBinding(host: string, { requireKeys }: { readonly requireKeys: boolean }): void {
  if (requireKeys || namesLoopback(isIPv6(host) ? `[${host}]` : host)) return
  throw new SluiceError('INVALID_OPTION', {
    field: 'host',
    problem: `${host === '' ? 'no host' : `"${host}"`} can be reached from other machines, and keys are not required; require keys, or listen on 127.0.0.1`,
  })
}

const forwarding = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip']

/** A name that is not this machine's comes from a page elsewhere, whose address was made to lead here. */
export function judgeHost({ headers }: Asking): Refusal | undefined {
  return namesLoopback(oneHeader(headers, 'host') ?? '') ? undefined : refuse('HOST_NOT_LOCAL')
}

/** What a proxy says about others is not believed, but that there is a proxy is. */
export function judgeForwarding({ headers }: Asking): Refusal | undefined {
  return forwarding.some((name) => headers[name] !== undefined) ? refuse('FORWARDED') : undefined
}
