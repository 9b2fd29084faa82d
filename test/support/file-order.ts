/**
 * In which order test files run: by chance, but such that workers end at about the same time.
 *
 * First come those that start processes, because the longest are among them; guarantees alternate with the others, so that two of them
 * seldom share the machine. Then everything else.
 */
import { createHash } from 'node:crypto'
import { relative } from 'node:path'
import { BaseSequencer, type TestSequencer, type TestSpecification, type Vitest } from 'vitest/node'

const startsProcesses = /^(?:apps\/cli|packages\/local-postgres|test)\//

export class FileOrder implements TestSequencer {
  readonly #vitest: Vitest

  constructor(vitest: Vitest) {
    this.#vitest = vitest
  }

  async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root, sequence } = this.#vitest.config
    const shuffled = files
      .map((file) => ({ file, path: relative(root, file.moduleId) }))
      .map((one) => ({ ...one, place: createHash('sha1').update(`${sequence.seed} ${one.path}`).digest('hex') }))
      .toSorted((a, b) => (a.place < b.place ? -1 : 1))
    const pick = (fits: (one: (typeof shuffled)[number]) => boolean) => shuffled.filter(fits).map(({ file }) => file)
    const isGuarantee = ({ file }: { file: TestSpecification }): boolean => file.project.name.startsWith('guarantees')
    const guarantees = pick(isGuarantee)
    const long = pick((one) => !isGuarantee(one) && startsProcesses.test(one.path))
    const short = pick((one) => !startsProcesses.test(one.path))
    return [...alternate(guarantees, long), ...short]
  }

  async shard(files: TestSpecification[]): Promise<TestSpecification[]> {
    return new BaseSequencer(this.#vitest).shard(files)
  }
}

function alternate<T>(some: readonly T[], others: readonly T[]): T[] {
  const turns = Array.from({ length: Math.max(some.length, others.length) }, (_, turn) => turn)
  return turns.flatMap((turn) => [...some.slice(turn, turn + 1), ...others.slice(turn, turn + 1)])
}
