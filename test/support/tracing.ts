/**
 * Spans of a test, kept in memory: a real SDK with a context that follows asynchronous calls. Gone when the test ends.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { type Context, type ContextManager, context, ROOT_CONTEXT, trace } from '@opentelemetry/api'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base'

class Contexts implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>()

  active(): Context {
    return this.#storage.getStore() ?? ROOT_CONTEXT
  }

  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    within: Context,
    act: F,
    thisArg?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return this.#storage.run(within, () => act.call(thisArg as never, ...args))
  }

  bind<T>(within: Context, target: T): T {
    if (typeof target !== 'function') return target
    return ((...args: unknown[]) => this.#storage.run(within, () => target(...args) as unknown)) as T
  }

  enable(): this {
    return this
  }

  disable(): this {
    return this
  }
}

export interface Tracing {
  /** Those that have ended, in the order of their start. */
  spans(): ReadableSpan[]
  stop(): Promise<void>
}

export function startTracing(...more: SpanProcessor[]): Tracing {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter), ...more] })
  trace.setGlobalTracerProvider(provider)
  context.setGlobalContextManager(new Contexts())
  return {
    spans: () =>
      exporter.getFinishedSpans().toSorted((a, b) => a.startTime[0] - b.startTime[0] || a.startTime[1] - b.startTime[1]),
    async stop() {
      trace.disable()
      context.disable()
      await provider.shutdown()
    },
  }
}
