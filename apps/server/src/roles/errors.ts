/**
 * What can keep a role from starting, as rows of one table: a code that never changes and a message that says what to do. docs/errors.md explains
 * each one.
 */
export const roleErrors = {
  NO_DATABASE:
    'There is no database here: DATABASE_URL is not set and {folder} holds none. Run `sluice up`, or say where it is with --database.',
  MODULE_NOT_FOUND: 'The module {module} does not exist. Correct its path in `load` ({place}).',
  MODULE_BROKEN: 'The module {module} could not be loaded: {reason}.',
  MODULE_WRONG: 'The module {module} is not usable: {problem}.',
  ADDRESS_IN_USE: 'Somebody else listens on {address}. Stop them, or choose another port with {flag}; 0 takes a free one.',
  ADDRESS_REFUSED: 'This machine cannot listen on {address}: {reason}. Correct --host, or choose a port above 1023.',
} as const

export type RoleErrorCode = keyof typeof roleErrors

export class RoleError extends Error {
  override readonly name = 'RoleError'
  readonly code: RoleErrorCode

  constructor(code: RoleErrorCode, facts: Readonly<Record<string, string>>, cause?: unknown) {
    const message = roleErrors[code].replaceAll(/\{(\w+)\}/g, (_, fact: string) => facts[fact] ?? fact)
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
  }
}
