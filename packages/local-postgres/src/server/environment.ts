/**
 * The environment of the server's programs. The caller's own is left out: PGPORT, PGDATA or a locale that this machine
 * does not have would change what the server is.
 */
export function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' }
}
