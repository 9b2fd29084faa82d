/**
 * Answers of a server in trouble, or of one that has had enough: the forms in which GitHub says them over GraphQL. Most come
 * with status 200, so nothing but the body tells.
 */
import type { SentError } from './failure.ts'

interface ErrorBody {
  readonly data?: null
  readonly errors: readonly SentError[]
}

/** The primary limit. GitHub has two forms; both are in use. */
export function rateLimited(accountId: number, form: 'RATE_LIMITED' | 'RATE_LIMIT' = 'RATE_LIMITED'): ErrorBody {
  if (form === 'RATE_LIMITED') return { errors: [{ type: form, message: `API rate limit exceeded for user ID ${accountId}.` }] }
  return {
    errors: [{ type: form, code: 'graphql_rate_limit', message: `API rate limit already exceeded for user ID ${accountId}.` }],
  }
}

export function timedOut(requestId: string): ErrorBody {
  return {
    data: null,
    errors: [
      {
        message: `Something went wrong while executing your query. This may be the result of a timeout, or it could be a GitHub bug. Please include \`${requestId}\` when reporting this issue.`,
      },
    ],
  }
}

const quoted = (scopes: readonly string[]) => `[${scopes.map((scope) => `'${scope}'`).join(', ')}]`

export function insufficientScopes(field: string, needed: readonly string[], granted: readonly string[]): ErrorBody {
  return {
    errors: [
      {
        type: 'INSUFFICIENT_SCOPES',
        message: `Your token has not been granted the required scopes to execute this query. The '${field}' field requires one of the following scopes: ${quoted(needed)}, but your token has only been granted the: ${quoted(granted)} scopes. Please modify your token's scopes at: https://github.com/settings/tokens.`,
      },
    ],
  }
}
