/** Waits until `look` gives something, looking again and again; fails after `deadlineMs`. For what other processes do. */
export async function eventually<T>(
  look: () => Promise<T | undefined | false> | T | undefined | false,
  deadlineMs = 30_000,
): Promise<T> {
  const endMs = performance.now() + deadlineMs
  for (;;) {
    const seen = await look()
    if (seen !== undefined && seen !== false) return seen
    if (performance.now() > endMs) throw new Error(`nothing happened within ${deadlineMs} ms: ${String(look)}`)
    await new Promise((resolve) => setTimeout(resolve, 15))
  }
}
