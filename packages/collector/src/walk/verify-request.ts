/** A request to find out what became of a repository. By name, because every kind may come to need it and it is itself one of them. */
import type { JobContext, JobRequest } from '@sluice/engine'

export const verifyName = 'github.verify-repository'

export function verifyRequest(
  { collection, id, run }: { collection: number; id: number; run: number },
  job: Pick<JobContext<unknown>, 'owner' | 'run'>,
): JobRequest {
  // Once in a run, however many of its lists are gone. A job that outlived its run has no run to be once in.
  const options = { key: `${collection}:${id}:${run}`, dedupe: job.run === undefined ? ('keep' as const) : ('once' as const) }
  return { kind: verifyName, payload: { collection, run, id }, options: { ...options, owner: job.owner as string } }
}
