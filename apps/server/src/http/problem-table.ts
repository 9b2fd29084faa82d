/**
 * Every way in which the API refuses is a row here: a code that never changes, the status, and a title.
 *
 * Codes of the engine keep their name, so that a program reads the same word from `engine.enqueue` and from a POST. `detail` comes from whoever
 * refuses; rows with a `detail` always say the same, because what lies below is nobody's business.
 */
import type { CollectorErrorCode } from '@sluice/collector'
import type { ErrorCode } from '@sluice/engine'

export interface ProblemRow {
  readonly status: number
  readonly title: string
  readonly detail?: string
  /** Seconds after which it is worth a second try. */
  readonly retryAfterSeconds?: number
}

const away = {
  status: 503,
  title: 'The database is away',
  detail:
    'The database does not answer. Try again in a moment; a change with the same Idempotency-Key, so that it happens once. /readyz says what is not ready.',
  retryAfterSeconds: 2,
} as const

/** DATABASE_REFUSED of one who is connected: trying again does not help, and only the owner of the schema can. */
export const rightMissing: ProblemRow = { status: 503, title: 'The role of this server lacks a right' }

const mistake = {
  status: 500,
  title: 'Something went wrong here',
  detail: 'This is our mistake, not yours. The log of the server has the reason under the request id of this answer.',
} as const

/** Exhaustive: a new code of the engine does not compile until somebody has decided what it means over HTTP. */
export const engineProblems: Readonly<Record<ErrorCode, ProblemRow>> = {
  UNKNOWN_KIND: { status: 422, title: 'Unknown kind' },
  UNKNOWN_POOL: { status: 404, title: 'No such pool' },
  DUPLICATE_KIND: mistake,
  INVALID_PAYLOAD: { status: 422, title: 'The payload does not fit' },
  PAYLOAD_TOO_LARGE: { status: 413, title: 'The payload is too large' },
  PAYLOAD_NOT_STORABLE: { status: 422, title: 'The payload cannot be stored' },
  INVALID_OPTION: { status: 422, title: 'A field is not usable' },
  INVALID_OUTCOME: mistake,
  INVALID_CRON: { status: 422, title: 'The cron expression is not usable' },
  INVALID_ZONE: { status: 422, title: 'Unknown time zone' },
  UNKNOWN_SCHEDULE: { status: 404, title: 'No such schedule' },
  UNKNOWN_EVENT: { status: 422, title: 'Unknown event' },
  EVENT_CYCLE: { status: 409, title: 'The event would follow on itself' },
  DATABASE_URL_INVALID: away,
  DATABASE_UNREACHABLE: away,
  DATABASE_REFUSED: away,
  DATABASE_READ_ONLY: away,
  LOOK_TOO_LONG: { status: 504, title: 'Looking took too long' },
  DATABASE_SETTING: away,
  POSTGRES_TOO_OLD: away,
  SCHEMA_INCOMPATIBLE: away,
  SCHEMA_BEHIND: away,
  SCHEMA_CHANGED: away,
  COST_NEVER_FITS: { status: 422, title: 'The job could never start' },
  IN_OPEN_TRANSACTION: { status: 409, title: 'Somebody keeps a transaction open over it' },
  RUN_ACTIVE: { status: 409, title: 'A run is under way' },
  DEDUPE_CONTENDED: { status: 503, title: 'The dedupe key keeps changing hands', retryAfterSeconds: 1 },
  ENGINE_STOPPED: {
    status: 503,
    title: 'This process is stopping',
    detail: 'This process is stopping. Try again; another one answers.',
    retryAfterSeconds: 2,
  },
  MASTER_KEY_INVALID: mistake,
  MASTER_KEY_UNKNOWN: mistake,
  SECRETS_OFF: {
    status: 503,
    title: 'This server keeps no secrets',
    detail:
      'Tokens are stored sealed, and this server has no master key. Start it with SLUICE_MASTER_KEY, the same for every process.',
  },
  SECRET_UNREADABLE: mistake,
  TRANSACTION_OVER: { status: 500, title: 'The transaction is over' },
  TRANSACTION_NOT_YOURS: mistake,
  UNKNOWN_RUN: { status: 404, title: 'No such run' },
  UNKNOWN_SECRET: { status: 404, title: 'No such secret' },
  HANDLER_TIMED_OUT: mistake,
  OWN_PROCESS_DIED: mistake,
  WORKER_LOST: mistake,
  POISON: mistake,
}

/** Exhaustive, like that of the engine. */
export const collectorProblems: Readonly<Record<CollectorErrorCode, ProblemRow>> = {
  TOKEN_WRONG_SHAPE: { status: 422, title: 'This is no token of GitHub' },
  TOKEN_REFUSED: { status: 422, title: 'GitHub refuses the token' },
  TOKEN_OF_ANOTHER: { status: 422, title: 'The token belongs to somebody else' },
  TOKEN_WITHOUT_RIGHTS: { status: 422, title: 'The token may not read what is collected' },
  LOGIN_WRONG_SHAPE: { status: 422, title: 'This is no login of GitHub' },
  LOGIN_UNKNOWN: { status: 422, title: 'GitHub knows no such login' },
  GITHUB_BUSY: { status: 503, title: 'GitHub takes no more calls just now', retryAfterSeconds: 60 },
  GITHUB_UNUSABLE: { status: 503, title: 'GitHub gives no usable answer', retryAfterSeconds: 30 },
  USER_UNKNOWN: { status: 404, title: 'No such user' },
  USER_EXISTS: { status: 409, title: 'The user is registered already' },
  USER_ELSEWHERE: { status: 409, title: 'The user is an account of another GitHub' },
  COLLECTION_ACTIVE: { status: 409, title: 'A collection is under way' },
  COLLECTION_UNKNOWN: { status: 404, title: 'No such collection' },
  SHADOW_ACTIVE: { status: 409, title: 'A comparison is under way' },
  COLLECTION_LIVE: { status: 409, title: 'The live collection goes with its user' },
  INVALID_REQUEST: { status: 422, title: 'A field is not usable' },
}

/** What HTTP itself has to refuse. */
export const httpProblems = {
  MALFORMED: { status: 400, title: 'This is no HTTP request', detail: 'The request cannot be read. Send well-formed HTTP.' },
  INVALID_JSON: {
    status: 400,
    title: 'The body is no JSON',
    detail:
      'The body cannot be read as JSON, or its length is wrong. Send well-formed JSON, without __proto__ or constructor.prototype.',
  },
  NOT_FOUND: { status: 404, title: 'There is nothing here' },
  UNKNOWN_ROUTE: { status: 404, title: 'No such address', detail: 'There is no such address. /openapi.json lists all of them.' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'Not with this method' },
  CONFLICT: { status: 409, title: 'Not in this state' },
  BODY_TOO_LARGE: {
    status: 413,
    title: 'The body is too large',
    detail:
      'Send less at once: many small requests instead of a large one. Store large data elsewhere and enqueue a reference to it.',
  },
  URL_TOO_LONG: { status: 414, title: 'The address is too long', detail: 'Shorten the filters in the query.' },
  NOT_JSON: {
    status: 415,
    title: 'The body has the wrong type',
    detail: 'Send the body as JSON, with the header content-type: application/json.',
  },
  INVALID_REQUEST: { status: 422, title: 'Some fields are not usable', detail: 'Correct the fields that `errors` names.' },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    title: 'This Idempotency-Key belongs to another request',
    detail: 'The key was used for another address or another body. Take a new key for a new request, the same for a repetition.',
  },
  IDEMPOTENCY_UNDER_WAY: {
    status: 409,
    title: 'The first request with this Idempotency-Key is still under way',
    detail: 'Wait for its answer, or repeat the request in a moment.',
    retryAfterSeconds: 1,
  },
  HEADERS_TOO_LARGE: { status: 431, title: 'The headers are too large', detail: 'Send fewer or shorter headers.' },
  BUSY: {
    status: 503,
    title: 'Try again',
    detail: 'The database is busy with others just now. Nothing was changed; try again.',
    retryAfterSeconds: 1,
  },
  LIVE_FULL: {
    status: 503,
    title: 'Too many live connections',
    detail: 'This process serves as many live connections as it may. Try again later, or ask for the state from time to time.',
    retryAfterSeconds: 30,
  },
  ANSWER_TOO_LATE: {
    status: 504,
    title: 'The answer took too long',
    detail: 'It may still happen. Look whether it did, or repeat the request with the same Idempotency-Key.',
  },
  REQUEST_TOO_SLOW: { status: 408, title: 'The request came too slowly', detail: 'Send the whole request at once.' },
  UNEXPECTED: mistake,
} as const satisfies Readonly<Record<string, ProblemRow>>

export type HttpProblemCode = keyof typeof httpProblems
