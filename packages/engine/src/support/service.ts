/**
 * Every long-lived part has this shape. Both calls may come twice, and `stop` may come without `start`.
 */
export interface Service {
  start(): Promise<void> | void
  stop(): Promise<void> | void
}
