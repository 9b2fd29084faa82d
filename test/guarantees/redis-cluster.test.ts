/**
 * Three nodes of a Redis Cluster: the keys of a pool lie on one of them, and two pools on two.
 */
import { defineKind } from '@sluice/engine'
import { describe, expect } from 'vitest'
import { test as base, eventually } from '../support/database.ts'
import { isMissing } from '../support/missing-servers.ts'
import { freePort, type RedisServer, startRedis } from '../support/redis.ts'

const slots = 16_384

const test = base.extend<{ nodes: RedisServer[] }>({
  // oxlint-disable-next-line no-empty-pattern -- Vitest reads the pattern to know what a fixture needs
  nodes: async ({}, use) => {
    const nodes: RedisServer[] = []
    const ports = [await freePort(), await freePort(), await freePort()]
    for (const port of ports) nodes.push(await startRedis(['--cluster-enabled', 'yes', '--cluster-port', String(port)]))
    await form(nodes, ports[0] as number)
    await use(nodes)
    for (const node of nodes) await node.stop()
  },
})

describe.skipIf(isMissing('redis-server'))('a cluster of three nodes', () => {
  test('[D-08] every pool works, open lane and lanes, delayed and urgent, and its keys share a slot', async ({
    nodes,
    engines,
    client,
  }) => {
    const ran: string[] = []
    const light = defineKind('light', { run: () => void ran.push('light') })
    const heavy = defineKind('heavy', { pool: 'heavy', run: () => void ran.push('heavy') })
    const redis = nodes.map(({ url }) => url).join(',')
    const engine = engines({ kinds: [light, heavy], lanes: { 'tight:*': { cap: 1 } }, redis })
    await engine.start()
    await eventually(() => engine.status().dispatch.by === 'redis')
    await engine.enqueueMany(
      [light, heavy].flatMap((kind) => [
        ...Array.from({ length: 100 }, () => kind({})),
        ...Array.from({ length: 20 }, () => kind({}, { lane: 'tight:a' })),
        kind({}, { delay: '200ms' }),
        kind({}, { priority: 10 }),
      ]),
    )
    await eventually(async () => (await client.query('select from sluice.job limit 1')).rowCount === 0, 60_000)
    expect(ran).toHaveLength(244)
    const keys = (await Promise.all(nodes.map((node) => node.client.keys('sluice:*')))).map(
      (found) => new Set(found.map((key) => /\{(.*)\}/.exec(key)?.[1])),
    )
    expect(new Set(keys.flatMap((pools) => [...pools]))).toEqual(new Set(['heavy', 'light']))
  })
})

async function form(nodes: readonly RedisServer[], busPort: number): Promise<void> {
  const share = Math.ceil(slots / nodes.length)
  for (const [at, node] of nodes.entries()) {
    await node.client.call('CLUSTER', 'ADDSLOTSRANGE', String(at * share), String(Math.min(slots, (at + 1) * share) - 1))
    await node.client.call('CLUSTER', 'SET-CONFIG-EPOCH', String(at + 1))
  }
  for (const node of nodes.slice(1))
    await node.client.call('CLUSTER', 'MEET', '127.0.0.1', String(nodes[0]?.port), String(busPort))
  await eventually(async () => {
    const infos = await Promise.all(nodes.map((node) => node.client.call('CLUSTER', 'INFO') as Promise<string>))
    return infos.every((info) => info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:3'))
  }, 60_000)
}
