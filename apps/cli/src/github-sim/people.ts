/**
 * Who lives in the simulator, as the command line names them.
 */
import { InvalidArgumentError } from 'commander'

export const usualPeople = ['acorn', 'birch', 'cedar']

export function logins(text: string): string[] {
  const all = text.split(',').map((login) => login.trim())
  if (all.some((login) => !/^[a-z\d](?:[a-z\d]|-(?=[a-z\d])){0,38}$/i.test(login)) || new Set(all).size < all.length)
    throw new InvalidArgumentError('Write logins of letters, digits and dashes, each once: acorn,birch.')
  return all
}
