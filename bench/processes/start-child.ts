/**
 * Starts a process of the bench in a role, with the input and the answer of that role.
 */
import type { RoleName, Roles } from './child.ts'
import { type Child, forkChild } from './fork-child.ts'

export function startChild<Name extends RoleName>(
  role: Name,
  input: Parameters<Roles[Name]>[0],
  onTold?: (message: unknown) => void,
): Child<Awaited<ReturnType<Roles[Name]>>> {
  return forkChild(role, input, onTold)
}
