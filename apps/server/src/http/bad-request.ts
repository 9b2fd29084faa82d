/**
 * Answers to what never became a request: broken HTTP, headers too large, a client that sends too slowly. The socket is written to by hand and closed.
 */
import type { Socket } from 'node:net'
import { toProblem } from './problem.ts'
import { type HttpProblemCode, httpProblems, type ProblemRow } from './problem-table.ts'

const codes: Readonly<Record<string, HttpProblemCode>> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TOO_SLOW',
}

export function answerUnread(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy()
    return
  }
  const code = codes[error.code ?? ''] ?? 'MALFORMED'
  const row: ProblemRow = httpProblems[code]
  const body = JSON.stringify(toProblem({ code, row, detail: row.detail ?? row.title }, 'none'))
  const head = [
    `HTTP/1.1 ${row.status} ${row.title}`,
    'content-type: application/problem+json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}
