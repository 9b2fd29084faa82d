/**
 * Settings: a server for one machine. Reached by its socket only, small in memory, and durable: what it has acknowledged
 * survives a crash. Autovacuum looks every 10 s because a queue's tables die fast. Tables of the user's own go to `public`: by default they would go to the
 * schema that is named like the role, which is the engine's once it is there.
 *
 * They are passed on the command line, where they win over whatever the cluster's own files say.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'

export function serverArguments(cluster: string, settings: Record<string, string>): string[] {
  return ['-D', cluster, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
}

export function serverSettings(bin: string, socketFolder: string): Record<string, string> {
  return {
    listen_addresses: '',
    port: '5432',
    unix_socket_directories: `"${socketFolder.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    max_connections: '100',
    shared_buffers: '64MB',
    wal_level: 'minimal',
    max_wal_senders: '0',
    autovacuum_naptime: '10s',
    timezone: 'UTC',
    search_path: 'public',
    shared_preload_libraries: hasStatements(bin) ? 'pg_stat_statements' : '',
  }
}

function hasStatements(bin: string): boolean {
  const extension = process.platform === 'darwin' ? 'dylib' : 'so'
  return ['../lib/postgresql', '../lib'].some((folder) => existsSync(join(bin, folder, `pg_stat_statements.${extension}`)))
}
