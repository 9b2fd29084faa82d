/** A request that a route is asked with, whatever it answers. */
export interface Sample {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly url: string
  readonly body?: unknown
  readonly headers?: Record<string, string>
}
