/**
 * What to compare lateness with: on a busy machine a plain timer is late as well.
 */

/** How late a timer of this process is. */
export function lateness(ms: number): Promise<number> {
  const dueMs = performance.now() + ms
  return new Promise((resolve) => setTimeout(() => resolve(performance.now() - dueMs), ms))
}
