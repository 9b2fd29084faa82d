/** One Redis for the guarantees that run over it. */
import type { TestProject } from 'vitest/node'
import { startRedis } from './redis.ts'

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const redis = await startRedis()
  project.provide('redisUrl', redis.url)
  return () => redis.stop()
}
