/**
 * Named places where tests let the process die. In production nobody listens and a call costs nothing.
 *
 * The list is closed, so that a test which names a place that no longer exists does not compile.
 */
export type FailPoint = 'claim sent' | 'claimed' | 'handler ended' | 'settle sent' | 'before commit' | 'settled'

export type Probe = (point: FailPoint) => Promise<void> | void

export const noProbe: Probe = () => {}
