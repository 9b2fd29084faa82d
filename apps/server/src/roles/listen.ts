/**
 * Opens an address, and says what to do when that does not work.
 */
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { RoleError } from './errors.ts'

export interface Wanted {
  readonly host: string
  readonly port: number
  /** The flag that chooses the port. */
  readonly flag: '--port' | '--health-port'
}

/** Answers the address as others write it. */
export async function listen(server: Server, { host, port, flag }: Wanted): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(explain(error, { host, port, flag })))
    server.listen({ host, port }, resolve)
  })
  return addressOf(server, host)
}

export function explain(error: Error, { host, port, flag }: Wanted): Error {
  const { code, message } = error as NodeJS.ErrnoException
  const address = `${host}:${port}`
  if (code === 'EADDRINUSE') return new RoleError('ADDRESS_IN_USE', { address, flag }, error)
  if (['EACCES', 'EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN'].includes(code ?? ''))
    return new RoleError('ADDRESS_REFUSED', { address, reason: message }, error)
  return error
}

export function addressOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
