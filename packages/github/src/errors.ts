/**
 * Every error this package raises on purpose, as rows of one table. They are about wrong use only: what a server does, even a
 * broken one, is an answer and not an error. No row takes a token, a body or a header, so none can leak one.
 */
export const githubErrors = {
  GITHUB_BAD_OPTION:
    'The option `{field}` of the GitHub client cannot be used: {problem}. Correct it where createGithub is called.',
  GITHUB_BAD_CALL: 'The call to GitHub cannot be sent: {problem}. Nothing was sent; correct the call.',
  GITHUB_BAD_TOKEN:
    'The token cannot be sent: it is empty, or has characters that no GitHub token has. Nothing was sent; give the token again.',
  GITHUB_BAD_QUERY: 'The GraphQL query cannot be read: {problem} at character {place}. Correct the query.',
} as const

export type GithubErrorCode = keyof typeof githubErrors

export class GithubError extends Error {
  override readonly name = 'GithubError'
  readonly code: GithubErrorCode

  constructor(code: GithubErrorCode, facts: Record<string, string> = {}) {
    super(githubErrors[code].replaceAll(/\{(\w+)\}/g, (_, fact: string) => facts[fact] ?? fact))
    this.code = code
  }
}
