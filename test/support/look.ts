/**
 * Looks at a database whose server comes and goes: connections do not outlive it, so each look has one of its own.
 */
import pg from 'pg'

export type Look = <T>(act: (client: pg.Client) => Promise<T>) => Promise<T>

export function lookAt(url: string): Look {
  return async (act) => {
    const client = new pg.Client(url)
    client.on('error', () => {})
    await client.connect()
    try {
      return await act(client)
    } finally {
      await client.end()
    }
  }
}
