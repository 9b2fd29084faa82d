/**
 * A browser's side of live updates: reads Server-Sent Events as they come.
 */
import { type ClientRequest, get, type IncomingMessage } from 'node:http'

export interface Heard {
  readonly id: string
  readonly name: string
  readonly data: any
}

export class Stream {
  /** Names of what was heard so far. */
  readonly names: string[] = []
  readonly ids: string[] = []
  readonly closed: Promise<void>
  readonly #request: ClientRequest
  readonly #heard: Heard[] = []
  readonly #waiting = new Set<() => void>()
  #pings = 0
  #rest = ''

  private constructor(request: ClientRequest, response: IncomingMessage) {
    this.#request = request
    response.setEncoding('utf8')
    response.on('data', (chunk: string) => this.#read(chunk))
    response.on('error', () => {})
    this.closed = new Promise((resolve) => response.once('close', () => resolve()))
  }

  /** Resolves when the first event has come. */
  static async open(url: string, headers: Record<string, string> = {}): Promise<Stream> {
    const stream = await new Promise<Stream>((resolve, reject) => {
      const request = get(url, { headers, agent: false }, (response) =>
        response.statusCode === 200 ? resolve(new Stream(request, response)) : reject(new Error(`status ${response.statusCode}`)),
      )
      request.on('error', reject)
    })
    await stream.#until(() => stream.#heard[0])
    return stream
  }

  /** The next event of this name that was not taken yet. */
  next(name: string): Promise<Heard> {
    return this.nextWith((heard) => heard.name === name)
  }

  nextWith(fits: (heard: Heard) => boolean): Promise<Heard> {
    return this.#until(() => {
      const at = this.#heard.findIndex(fits)
      return at < 0 ? undefined : this.#heard.splice(at, 1)[0]
    })
  }

  async ping(): Promise<void> {
    await this.#until(() => this.#pings || undefined)
  }

  close(): void {
    this.#request.destroy()
  }

  #until<T>(look: () => T | undefined): Promise<T> {
    return new Promise((resolve) => {
      const check = (): void => {
        const seen = look()
        if (seen === undefined) return
        this.#waiting.delete(check)
        resolve(seen)
      }
      this.#waiting.add(check)
      check()
    })
  }

  #read(chunk: string): void {
    this.#rest += chunk
    const frames = this.#rest.split('\n\n')
    this.#rest = frames.pop() ?? ''
    for (const frame of frames) this.#take(frame)
    for (const check of this.#waiting) check()
  }

  #take(frame: string): void {
    if (frame.startsWith(':')) {
      this.#pings += 1
      return
    }
    const field = (name: string): string =>
      frame
        .split('\n')
        .find((line) => line.startsWith(`${name}: `))
        ?.slice(name.length + 2) ?? ''
    const heard = { id: field('id'), name: field('event'), data: JSON.parse(field('data')) }
    this.names.push(heard.name)
    this.ids.push(heard.id)
    this.#heard.push(heard)
  }
}
