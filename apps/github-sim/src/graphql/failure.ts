/**
 * The errors that GitHub gives a type, and the shape in which they travel. One place for the words, because clients are
 * known to recognise errors by them.
 */
import type { GraphQLError } from 'graphql'

export type FailureType =
  | 'NOT_FOUND'
  | 'FORBIDDEN'
  | 'INSUFFICIENT_SCOPES'
  | 'MISSING_PAGINATION_BOUNDARIES'
  | 'EXCESSIVE_PAGINATION'
  | 'INVALID_CURSOR_ARGUMENTS'
  | 'ARGUMENT_LIMIT'
  | 'UNPROCESSABLE'
  | 'MAX_NODE_LIMIT_EXCEEDED'
  | 'RESOURCE_LIMITS_EXCEEDED'
  | 'RATE_LIMITED'
  | 'RATE_LIMIT'

export interface SentError {
  readonly type?: FailureType
  readonly code?: string
  readonly path?: readonly (string | number)[]
  readonly extensions?: Readonly<Record<string, unknown>>
  readonly locations?: readonly { readonly line: number; readonly column: number }[]
  readonly message: string
}

/** An error at the field that is being resolved. */
export class Failure extends Error {
  readonly type: FailureType
  readonly extensions: Readonly<Record<string, unknown>> | undefined

  constructor(type: FailureType, message: string, extensions?: Readonly<Record<string, unknown>>) {
    super(message)
    this.name = 'Failure'
    this.type = type
    this.extensions = extensions
  }
}

export const notFound = {
  account: (type: 'User' | 'Organization', login: string) =>
    new Failure(
      'NOT_FOUND',
      `Could not resolve to ${type === 'User' ? 'a User' : 'an Organization'} with the login of '${login}'.`,
    ),
  repository: (name: string) => new Failure('NOT_FOUND', `Could not resolve to a Repository with the name '${name}'.`),
  node: (id: string) => new Failure('NOT_FOUND', `Could not resolve to a node with the global id of '${id}'`),
  numbered: (type: 'Issue' | 'PullRequest', number: number) =>
    new Failure(
      'NOT_FOUND',
      `Could not resolve to ${type === 'Issue' ? 'an Issue' : 'a PullRequest'} with the number of ${number}.`,
    ),
}

export const forbidden = {
  sso: () =>
    new Failure(
      'FORBIDDEN',
      'Resource protected by organization SAML enforcement. You must grant your Personal Access token access to this organization.',
      { saml_failure: true },
    ),
  ip: (organization: string) =>
    new Failure(
      'FORBIDDEN',
      `Although you appear to have the correct authorization credentials, the \`${organization}\` organization has an IP allow list enabled, and your IP address is not permitted to access this resource.`,
    ),
  token: () => new Failure('FORBIDDEN', 'Resource not accessible by personal access token'),
  blocked: () => new Failure('FORBIDDEN', 'Repository access blocked'),
}

export const heavy = () => new Failure('RESOURCE_LIMITS_EXCEEDED', 'Resource limits for this query exceeded.')

/** An error of the execution as it is sent: type first, then where, then what. */
export function sendError(error: GraphQLError): SentError {
  const cause = error.originalError
  const where = {
    ...(error.path === undefined ? {} : { path: error.path }),
    ...(cause instanceof Failure && cause.extensions ? { extensions: cause.extensions } : {}),
    ...(error.locations === undefined ? {} : { locations: error.locations.map(({ line, column }) => ({ line, column })) }),
    message: error.message,
  }
  return cause instanceof Failure ? { type: cause.type, ...where } : where
}

/** The same for one that belongs to no field. */
export const sendFailure = ({ type, message }: Failure): SentError => ({ type, message })
