/**
 * One request and everything that came back, within two limits: the time for the whole answer, and the bytes of the body,
 * counted while it streams and after decompression, so that neither a slow nor a huge answer can hold a worker.
 *
 * Redirects are not followed, because each hop costs a unit and tells a new name that has to be stored. What goes wrong on the
 * way is a value. Only the caller's own abort is thrown on, with the caller's reason. The texts of `fetch`'s errors are never
 * passed on (some quote headers), only the short code of their cause.
 */
export interface Outgoing {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Record<string, string>
  readonly body?: string
  readonly signal: AbortSignal | undefined
}

export interface Limits {
  readonly timeoutMs: number
  readonly bodyBytesMax: number
  readonly now: () => number
}

export type Flaw = 'cut off' | 'too large' | 'timed out'

export interface Received {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Why `text` is not the whole body. */
  readonly flaw: Flaw | undefined
  /** When the head of the answer was here, by the local clock. */
  readonly at: number
}

/** No answer at all. `sent` is false when the request cannot have reached anybody, so it cannot have cost anything. */
export interface Unheard {
  readonly status: 0
  readonly problem: string
  readonly sent: boolean
  readonly at: number
}

/** Failures before a connection stood. */
const unsentCodes = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
])

export async function send(outgoing: Outgoing, limits: Limits): Promise<Received | Unheard> {
  const { url, signal, ...request } = outgoing
  signal?.throwIfAborted()
  const stop = new AbortController()
  const onAbort = (): void => stop.abort()
  signal?.addEventListener('abort', onAbort, { once: true })
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    stop.abort()
  }, limits.timeoutMs)
  try {
    const response = await fetch(url, { ...request, redirect: 'manual', signal: stop.signal })
    const at = limits.now()
    const { text, flaw } = await readBody(response.body, limits.bodyBytesMax)
    if (flaw) signal?.throwIfAborted()
    return {
      status: response.status,
      headers: response.headers,
      text,
      flaw: flaw === 'cut off' && isLate ? 'timed out' : flaw,
      at,
    }
  } catch (error) {
    signal?.throwIfAborted()
    const code = codeOf(error)
    const problem = isLate ? `no answer within ${limits.timeoutMs} ms` : `the connection failed (${code})`
    return { status: 0, problem, sent: !unsentCodes.has(code), at: limits.now() }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}

async function readBody(body: Response['body'], bytesMax: number): Promise<{ text: string; flaw: Flaw | undefined }> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  let flaw: Flaw | undefined
  try {
    for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
      bytes += chunk.byteLength
      if (bytes > bytesMax) {
        flaw = 'too large'
        chunks.length = 0
        // Leaving the loop cancels the stream, and the connection goes with it: the rest is never received.
        break
      }
      chunks.push(chunk)
    }
  } catch {
    flaw = 'cut off'
  }
  return { text: new TextDecoder().decode(Buffer.concat(chunks)), flaw }
}

/** The code of the innermost cause, such as ECONNRESET. Only what looks like a code: anything else could quote the request. */
function codeOf(error: unknown): string {
  let code = 'unknown'
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1) {
    const found = (cause as NodeJS.ErrnoException).code
    if (typeof found === 'string' && /^[A-Z][A-Z0-9_]{2,60}$/.test(found)) code = found
  }
  return code
}
