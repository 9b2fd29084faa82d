/**
 * What a client may ask of this process. Every limit has its unit in its name, and is small enough that the worst client costs a bounded
 * amount of memory and time.
 */
export interface HttpLimits {
  /** A larger body is refused with 413. */
  readonly bodyBytesMax: number
  /** Request line and headers together; the parser of Node refuses more with 431. */
  readonly headerBytesMax: number
  /** A longer address is refused with 414. */
  readonly urlCharsMax: number
  /** Rows of one page. */
  readonly pageMax: number
  /** Jobs of one request to enqueue many. */
  readonly enqueueMax: number
  /** How long the whole answer may take; then 504. Statements that only read are ended by the database earlier (`lookTime` of the engine). */
  readonly answerMsMax: number
  /** How long a client may take to send its headers … */
  readonly headersMsMax: number
  /** … and its whole request. A slower one is cut. */
  readonly requestMsMax: number
  /** How long a connection may be silent between two requests. */
  readonly keepAliveMsMax: number
  /** Connections at once, live updates included. Further ones are closed at once. */
  readonly connectionsMax: number
  /** Live updates at once. */
  readonly livesMax: number
  /** Live updates that are kept for those who come back. */
  readonly liveEventsMax: number
  /** What may wait for a slow reader of live updates before it is cut. */
  readonly liveBytesMax: number
  /** A live connection is ended after this long; the client comes back and shows its key again. */
  readonly liveMsMax: number
  /** How long an answer is kept for a repetition with the same Idempotency-Key. */
  readonly replayMsMax: number
}

export const defaultLimits: HttpLimits = {
  bodyBytesMax: 1_048_576,
  headerBytesMax: 16_384,
  urlCharsMax: 8_192,
  pageMax: 500,
  enqueueMax: 1_000,
  answerMsMax: 15_000,
  headersMsMax: 10_000,
  requestMsMax: 20_000,
  keepAliveMsMax: 30_000,
  connectionsMax: 4_096,
  livesMax: 2_000,
  liveEventsMax: 1_000,
  liveBytesMax: 65_536,
  liveMsMax: 3_600_000,
  replayMsMax: 86_400_000,
}
