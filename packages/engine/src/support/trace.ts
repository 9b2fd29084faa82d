/**
 * Traces: how a job carries the trace of whoever enqueued it, and the spans around enqueue and run.
 *
 * A job stores a W3C traceparent, nothing else. Spans are made only where an OpenTelemetry SDK is registered in the process; without one, a
 * trace that comes in is carried on as it is, and the rest costs a look. The parent of a run is the enqueue (all attempts share it), the
 * parent of a child's run is the run that asked for it, so a tree of jobs is one trace.
 */
import {
  type Attributes,
  type Context,
  context,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'

/** version-trace-span-flags. */
export const traceparentPattern = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** Nothing while no SDK is registered: then no span is made, not even one that does nothing. */
export function findTracer(): Tracer | undefined {
  const provider = trace.getTracerProvider() as { getDelegateTracer?: (name: string) => Tracer | undefined }
  return provider.getDelegateTracer ? provider.getDelegateTracer('@sluice/engine') : trace.getTracer('@sluice/engine')
}

/** A span around the statement that sends jobs or events. `trace` is what they carry. */
export interface Sending {
  readonly span: Span
  readonly trace: string | undefined
}

/** `given` is a traceparent from outside; otherwise the active span is the parent. Nothing without an SDK. */
export function startSending(
  operation: 'enqueue' | 'publish' | 'start',
  name: string,
  count: number,
  given?: string,
): Sending | undefined {
  const tracer = findTracer()
  return tracer && startSpan(tracer, operation, name, count, given)
}

/** By itself, because what its inner function reads is set aside before anything else happens: a price for every enqueue, paid here only where spans are made. */
function startSpan(
  tracer: Tracer,
  operation: string,
  name: string,
  count: number,
  given: string | undefined,
): Sending | undefined {
  const attributes: Attributes = {
    'messaging.system': 'sluice',
    'messaging.operation.name': operation,
    'messaging.operation.type': 'send',
    'messaging.destination.name': name,
    ...(count > 1 ? { 'messaging.batch.message_count': count } : {}),
  }
  return harmless(() => {
    const parent = given === undefined ? context.active() : contextOf(given)
    const span = tracer.startSpan(`${operation} ${name}`, { kind: SpanKind.PRODUCER, attributes }, parent)
    return { span, trace: traceparentOf(span.spanContext()) }
  })
}

/** Sends within the span of it, if there is one. */
export async function withSending<T>(
  sending: Sending | undefined,
  act: () => Promise<T>,
  idsOf: (sent: T) => readonly number[],
): Promise<T> {
  if (!sending) return act()
  try {
    const sent = await act()
    const ids = idsOf(sent)
    harmless(() => {
      if (ids.length === 1) sending.span.setAttribute('messaging.message.id', String(ids[0]))
      sending.span.end()
    })
    return sent
  } catch (error) {
    harmless(() => {
      recordError(sending.span, error)
      sending.span.end()
    })
    throw error
  }
}

/** The span of one attempt, and the context in which its handler runs. */
export interface Running {
  readonly span: Span
  readonly context: Context
  readonly trace: string | undefined
}

export function startRunning(
  tracer: Tracer,
  job: {
    readonly id: number
    readonly kind: string
    readonly attempt: number
    readonly run: number | undefined
    readonly trace: string | undefined
  },
): Running | undefined {
  const parent = job.trace === undefined ? ROOT_CONTEXT : contextOf(job.trace)
  const attributes: Attributes = {
    'messaging.system': 'sluice',
    'messaging.operation.name': 'run',
    'messaging.operation.type': 'process',
    'messaging.destination.name': job.kind,
    'messaging.message.id': String(job.id),
    'sluice.job.id': job.id,
    'sluice.job.kind': job.kind,
    'sluice.job.attempt': job.attempt,
    ...(job.run === undefined ? {} : { 'sluice.run.id': job.run }),
  }
  return harmless(() => {
    const span = tracer.startSpan(`run ${job.kind}`, { kind: SpanKind.CONSUMER, attributes }, parent)
    return { span, context: trace.setSpan(parent, span), trace: traceparentOf(span.spanContext()) }
  })
}

export function endRunning({ span }: Running, outcome: string, error: unknown): void {
  harmless(() => {
    span.setAttribute('sluice.job.outcome', outcome)
    if (error !== undefined) recordError(span, error)
    span.end()
  })
}

/** Whoever looks on must not hurt the work: an SDK whose processor throws costs its spans, not the job. */
function harmless<T>(act: () => T): T | undefined {
  try {
    return act()
  } catch {
    return undefined
  }
}

function recordError(span: Span, error: unknown): void {
  const { code, name, message, stack } = error as { code?: string; name?: string; message?: string; stack?: string }
  const type = code ?? name ?? 'Error'
  span.setAttribute('error.type', type)
  span.recordException({ name: type, message: message ?? String(error), ...(stack === undefined ? {} : { stack }) })
  span.setStatus({ code: SpanStatusCode.ERROR, message: message ?? String(error) })
}

function traceparentOf(span: SpanContext): string | undefined {
  return isSpanContextValid(span)
    ? `00-${span.traceId}-${span.spanId}-${(span.traceFlags & 0xff).toString(16).padStart(2, '0')}`
    : undefined
}

/** What is not a traceparent is the start of a new trace. */
function contextOf(traceparent: string): Context {
  if (!traceparentPattern.test(traceparent)) return ROOT_CONTEXT
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-')
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true })
}
