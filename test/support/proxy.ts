/**
 * A proxy before PostgreSQL that loses things on purpose: the answer to one statement, or everything the server says on some connections.
 *
 * It reads just enough of the protocol to know what a client asks: messages have a letter and a length, the first one has only a length.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Proxy {
  /** The same database, through the proxy. */
  through(url: string): string
  /**
   * The next statement that matches, by its text or its name, gets to the server and is carried out; its answer does not come back and the
   * connection breaks. With `rows`, an answer without rows is let through and the next one waited for. Resolves when it has happened.
   */
  loseAnswer(to: RegExp, options?: { rows: boolean }): Promise<void>
  /** Nothing arrives any more on the open connections whose application name matches, from neither side; they stay open. */
  silence(application: RegExp): void
  stop(): Promise<void>
}

interface Trap {
  readonly to: RegExp
  readonly rows: boolean
  readonly sprung: () => void
}

/** The server is ready for the next statement: this one is carried out. */
const readyForQuery = Buffer.from([0x5a, 0, 0, 0, 5])

export async function startProxy(serverUrl: string): Promise<Proxy> {
  const target = join(new URL(serverUrl).searchParams.get('host') as string, '.s.PGSQL.5432')
  const folder = mkdtempSync(join(tmpdir(), 'sluice-proxy-'))
  const sockets = new Set<Socket>()
  const links = new Set<{ application: string; silent: boolean; client: Socket }>()
  const traps = new Set<Trap>()

  const server = createServer((client) => {
    const upstream = connect(target)
    const link = { application: '', silent: false, client }
    links.add(link)
    let caught: Trap | undefined
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        links.delete(link)
        client.destroy()
        upstream.destroy()
      })
    }
    const read = messageReader(
      (startup) => {
        link.application = /application_name\0([^\0]*)/.exec(startup)?.[1] ?? ''
      },
      (message) => {
        caught ??= [...traps].find(({ to }) => to.test(message)) // it stays for others: two claims may be under way, and one has the rows
      },
    )
    client.on('data', (chunk) => {
      read(chunk)
      upstream.write(chunk)
    })
    let answer = Buffer.alloc(0)
    upstream.on('data', (chunk) => {
      if (link.silent) return
      if (!caught) return void client.write(chunk)
      answer = Buffer.concat([answer, chunk]) // its end may come in two pieces
      if (!answer.subarray(-6, -1).equals(readyForQuery)) return
      if ((!caught.rows || hasRows(answer)) && traps.delete(caught)) {
        caught.sprung()
        client.destroy()
      } else {
        client.write(answer)
        caught = undefined
        answer = Buffer.alloc(0)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(join(folder, '.s.PGSQL.5432'), resolve))

  return {
    through(url) {
      const other = new URL(url)
      other.searchParams.set('host', folder)
      return other.href
    },
    loseAnswer: (to, { rows } = { rows: false }) => new Promise((resolve) => void traps.add({ to, rows, sprung: resolve })),
    silence(application) {
      for (const link of links)
        if (application.test(link.application)) {
          link.silent = true
          link.client.pause()
        }
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Whether one of the server's messages is a row. */
function hasRows(answer: Buffer): boolean {
  for (let at = 0; at + 5 <= answer.length; at += 1 + answer.readUInt32BE(at + 1))
    if (answer[at] === 'D'.charCodeAt(0)) return true
  return false
}

/** Cuts a client's bytes into messages, however they come. */
function messageReader(onStartup: (text: string) => void, onMessage: (text: string) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  let started = false
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      const head = started ? 1 : 0
      if (rest.length < head + 4) return
      const end = head + rest.readUInt32BE(head)
      if (rest.length < end) return
      const text = rest.toString('latin1', head + 4, end)
      if (started) onMessage(text)
      else onStartup(text)
      started = true
      rest = rest.subarray(end)
    }
  }
}
