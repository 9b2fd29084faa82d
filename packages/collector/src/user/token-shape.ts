/**
 * Whether a text can be a token of GitHub, before anybody is asked.
 *
 * A prefix tells the sort: ghp_ personal, gho_ OAuth, ghu_ and ghs_ apps, github_pat_ fine-grained; tokens from before 2021 are 40 hexadecimal digits. The
 * answer names what is wrong and never any part of the text: what was pasted here by mistake may be another secret.
 */
const shapes = [/^gh[pousr]_[A-Za-z0-9_]{16,255}$/, /^github_pat_[A-Za-z0-9_]{20,255}$/, /^[0-9a-f]{40}$/]

const charsMax = 300

/** What begins like a token, or is one, is no login: it must not be asked for, stored or repeated. */
export function looksLikeToken(text: string): boolean {
  return /^(?:gh[pousr]_|github_pat_)/i.test(text) || /^[0-9a-f]{40}$/i.test(text)
}

/** What is wrong with it; undefined when nothing is. */
export function findTokenProblem(text: unknown): string | undefined {
  if (typeof text !== 'string') return 'it is no text'
  if (text === '') return 'it is empty'
  if (text.length > charsMax) return `it has more than ${charsMax} characters`
  if (/\s/.test(text)) return 'it has a space or a line break in it'
  if (/^(?:bearer|token|basic)\b/i.test(text)) return 'it begins with the name of a scheme; give the token alone'
  if (text.startsWith('ghr_')) return 'it is a refresh token, which only makes other tokens'
  if (shapes.some((shape) => shape.test(text))) return undefined
  if (/^(?:gh[pous]_|github_pat_)/.test(text))
    return 'it begins like one, but is too short or has a character that tokens do not have'
  return 'it does not begin like one'
}
