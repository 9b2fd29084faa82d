/** The door: find a database, or start one. Nothing else can be imported, except what tests need, from `./testing`. */
export { LocalPostgresError, type LocalPostgresErrorCode, localPostgresErrors } from './errors.ts'
export { type FindDatabaseOptions, type FoundDatabase, findDatabase } from './find-database.ts'
export { type LocalPostgres, type LocalPostgresOptions, startLocalPostgres } from './start-local-postgres.ts'
export type { ServerExit } from './supervisor.ts'
