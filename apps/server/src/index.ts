/** The door of the server: read a configuration, start a role, or open the system for a command. `./fields` is a door of its own, for help pages. */
export { ConfigError } from './config/config-error.ts'
export { type DescribedField, describeConfig, withoutPassword } from './config/describe-config.ts'
export { type Config, type Origin, readConfig, type Sources } from './config/read-config.ts'
export { serverMigrations } from './migrations.ts'
export { RoleError, type RoleErrorCode, roleErrors } from './roles/errors.ts'
export { type Loaded, loadModules } from './roles/load-modules.ts'
export { openSystem, type System } from './roles/open-system.ts'
export { type RoleName, type Running, roles, startRole } from './roles/start-role.ts'
