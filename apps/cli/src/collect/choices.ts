/**
 * Options of the commands that talk to GitHub.
 */
import type { Choice } from '../session/tree.ts'

export const githubUrl: Choice = {
  flags: '--github-url <url>',
  about: 'address of the API (GITHUB_API_URL, default https://api.github.com)',
}
export const tokenFile: Choice = { flags: '--token-file <path>', about: 'file with the token; - reads standard input' }
