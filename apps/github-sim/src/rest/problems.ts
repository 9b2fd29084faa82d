/**
 * GitHub's refusals, word for word where the words are known, because clients tell them apart by their words.
 */
import { iso, type Reply } from './ask.ts'

const docs = 'https://docs.github.com'
const say = (status: number, message: string, documentation: string, more: object = {}): Reply => ({
  status,
  body: { message, ...more, documentation_url: `${docs}/${documentation}`, status: String(status) },
})

export const notFound = (page = 'rest'): Reply => say(404, 'Not Found', page)
export const badCredentials = (page: 'rest' | 'graphql' = 'rest'): Reply => say(401, 'Bad credentials', page)
export const requiresAuthentication = (page = 'rest'): Reply => say(401, 'Requires authentication', page)
export const graphqlNeedsToken = (): Reply =>
  say(
    401,
    'This endpoint requires you to be authenticated.',
    'graphql/guides/forming-calls-with-graphql#authenticating-with-graphql',
  )

export const loginAttempts = (): Reply => say(403, 'Maximum number of login attempts exceeded. Please try again later.', 'rest')
export const suspended = (): Reply => say(403, 'Sorry. Your account was suspended.', 'rest')
export const emptyRepository = (): Reply => say(409, 'Git Repository is empty.', 'rest/commits/commits#list-commits')
export const issuesDisabled = (): Reply => say(410, 'Issues are disabled for this repo', 'v3/issues/')
export const issueDeleted = (): Reply => say(410, 'This issue was deleted', 'v3/issues/')
export const noCommit = (ref: string): Reply => say(422, `No commit found for SHA: ${ref}`, 'rest/commits/commits#get-a-commit')
export const validationFailed = (resource: string, field: string, code: string, page = 'rest'): Reply =>
  say(422, 'Validation Failed', page, { errors: [{ resource, field, code }] })
export const deepPage = (): Reply =>
  say(
    422,
    'Pagination with the page parameter is not supported for large datasets, please use cursor based pagination (after/before)',
    'rest/issues/issues#list-repository-issues',
  )
export const endOfEvents = (): Reply =>
  say(
    422,
    'In order to keep the API fast for everyone, pagination is limited for this resource. Check the rel=last link relation in the Link response header to see how far back you can traverse.',
    'v3/#pagination',
  )
export const endOfSearch = (): Reply => say(422, 'Only the first 1000 search results are available', 'v3/search/')
export const badVersion = (version: string): Reply =>
  say(
    400,
    `'${version}' is not a supported version. Supported versions are '2022-11-28' and '2026-03-10'.`,
    'rest/overview/api-versions',
  )

export const dmca = (at: number): Reply => blocked(451, 'dmca', 'https://github.com/github/dmca', at)
export const tos = (at: number): Reply => blocked(403, 'tos', 'https://github.com/tos', at)
const blocked = (status: number, reason: string, html_url: string, at: number): Reply => ({
  status,
  body: { message: 'Repository access blocked', block: { reason, created_at: iso(at), html_url } },
})

export const sso = (organization: string): Reply => ({
  ...say(
    403,
    'Resource protected by organization SAML enforcement. You must grant your Personal Access token access to this organization.',
    'articles/authenticating-to-a-github-organization-with-saml-single-sign-on/',
  ),
  headers: { 'x-github-sso': `required; url=https://github.com/orgs/${organization}/sso?authorization_request=ABCDEF` },
})
export const ipNotAllowed = (organization: string): Reply =>
  say(
    403,
    `Although you appear to have the correct authorization credentials, the \`${organization}\` organization has an IP allow list enabled, and your IP address is not permitted to access this resource.`,
    'rest',
  )
export const noPermission = (): Reply => ({
  ...say(403, 'Resource not accessible by personal access token', 'rest/repos/repos'),
  headers: { 'x-accepted-github-permissions': 'metadata=read' },
})

/** An HTML page, because it is a proxy that says it. */
export const noUserAgent = (): Reply => ({
  status: 403,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body: `Request forbidden by administrative rules. Please make sure your request has a User-Agent header (${docs}/en/rest/overview/resources-in-the-rest-api#user-agent-required). Check https://developer.github.com for other possible causes.`,
})

export function primaryLimit(payer: number | string): Reply {
  const who =
    typeof payer === 'number'
      ? `user ID ${payer}.`
      : `${payer}. (But here's the good news: Authenticated requests get a higher rate limit. Check out the documentation for more details.)`
  return say(403, `API rate limit exceeded for ${who}`, 'rest/overview/rate-limits-for-the-rest-api')
}

export function secondaryLimit(retryAfterSeconds: number | undefined, requestId: string): Reply {
  const body = {
    documentation_url: `${docs}/free-pro-team@latest/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits`,
    message: `You have exceeded a secondary rate limit. Please wait a few minutes before you try again. If you reach out to GitHub Support for help, please include the request ID ${requestId}.`,
  }
  return { status: 403, body, headers: retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) } }
}

export const abuse = (retryAfterSeconds: number | undefined): Reply => ({
  status: 403,
  headers: retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) },
  body: {
    message: 'You have triggered an abuse detection mechanism. Please wait a few minutes before you try again.',
    documentation_url: 'https://developer.github.com/v3/#abuse-rate-limits',
  },
})

export function moved(url: string, method: string): Reply {
  return {
    status: method === 'GET' || method === 'HEAD' ? 301 : 307,
    headers: { location: url },
    body: { message: 'Moved Permanently', url, documentation_url: `${docs}/v3/#http-redirects` },
  }
}
