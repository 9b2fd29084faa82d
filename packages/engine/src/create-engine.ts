/**
 * The door to an engine: options are checked, and what the handlers of its kinds and runs ask for has to be given. A missing service is an error of types.
 */
import { Engine } from './engine.ts'
import type { AnyKind, GivenServices, ServicesOf } from './job/kind.ts'
import { type EngineOptions, settleOptions } from './options.ts'
import type { RunKind } from './run/run-kind.ts'

export function createEngine<K extends AnyKind = AnyKind, R extends RunKind = RunKind>(
  options: EngineOptions & { kinds?: readonly K[]; runs?: readonly R[] } & GivenServices<ServicesOf<K | R['kinds'][number]>>,
): Engine {
  return new Engine(settleOptions(options))
}
