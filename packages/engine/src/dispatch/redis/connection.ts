/**
 * Connections to Redis, or to a Redis Cluster when several addresses are given with commas between them. unix:///path is a socket.
 *
 * A command never waits for a connection that is not there: it fails, and the dispatcher goes on over PostgreSQL. One that gets no answer fails
 * as well, so that a paused or half-open server is noticed. `ioredis` is loaded with the first connection, not before.
 */
import type { Cluster, Redis, RedisOptions } from 'ioredis'

export type Client = Redis | Cluster

const connectTimeoutMs = 2_000
const retryMsMax = 1_000

/** Not connected yet. */
export async function makeClient(url: string, answerMsMax: number): Promise<Client> {
  const ioredis = await import('ioredis')
  const settings: RedisOptions = {
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: connectTimeoutMs,
    commandTimeout: answerMsMax,
    keepAlive: 5_000,
    retryStrategy: retryMs,
  }
  const addresses = url.split(',').map((one) => one.trim())
  const [first = ''] = addresses
  const { username, password, protocol, pathname } = new URL(first)
  const client: Client =
    addresses.length === 1
      ? protocol === 'unix:'
        ? new ioredis.Redis({ ...settings, path: pathname })
        : new ioredis.Redis(first, settings)
      : new ioredis.Cluster(
          addresses.map((address) => {
            const { hostname, port } = new URL(address.includes('://') ? address : `${protocol}//${address}`)
            return { host: hostname, port: Number(port || 6379) }
          }),
          {
            lazyConnect: true,
            enableOfflineQueue: false,
            clusterRetryStrategy: retryMs,
            redisOptions: {
              ...settings,
              ...(username ? { username: decodeURIComponent(username) } : {}),
              ...(password ? { password: decodeURIComponent(password) } : {}),
              ...(protocol === 'rediss:' ? { tls: {} } : {}),
            },
          },
        )
  client.on('error', () => {}) // whoever sends a command hears of it
  return client
}

function retryMs(times: number): number {
  return Math.min(50 * 2 ** Math.min(times, 10), retryMsMax)
}
