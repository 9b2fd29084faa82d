/**
 * The API as it describes itself, read back from /openapi.json: what tests of all routes go by.
 */
import type { App } from './http-scene.ts'

export interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly [keyword: string]: any
}

export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** With `{id}` or `{name}` in it. */
  readonly path: string
  readonly role: 'read' | 'operate' | 'admin' | undefined
  readonly parameters: readonly {
    readonly name: string
    readonly in: 'path' | 'query' | 'header'
    readonly required: boolean
    readonly schema: Schema
  }[]
  readonly body: Schema | undefined
  readonly statuses: readonly number[]
}

export interface Description {
  readonly document: any
  readonly operations: readonly Operation[]
  /** A schema without references at its top. */
  resolve(schema: Schema): Schema
}

export async function describeApi(app: App): Promise<Description> {
  const document: any = (await app.inject('/openapi.json')).json()
  const operations = Object.entries<Record<string, any>>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Operation => {
      const content = operation['requestBody']?.content?.['application/json']?.schema
      return {
        method: method.toUpperCase() as Operation['method'],
        path,
        role: operation['x-role'],
        parameters: operation['parameters'] ?? [],
        body: content,
        statuses: Object.keys(operation['responses']).map(Number),
      }
    }),
  )
  const resolve = (schema: Schema): Schema =>
    schema.$ref === undefined ? schema : resolve(document.components.schemas[schema.$ref.split('/').at(-1) ?? ''])
  return { document, operations, resolve }
}

export const nameOf = ({ method, path }: Operation): string => `${method} ${path}`

/** The operation that a request went to, if it is described. */
export function operationOf(operations: readonly Operation[], method: string, url: string): Operation | undefined {
  const path = url.split('?')[0] ?? ''
  const fits = (operation: Operation): boolean =>
    operation.method === method &&
    new RegExp(`^${operation.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path)
  // A fixed address comes before one with a place in it.
  return operations.filter(fits).toSorted((a, b) => a.path.split('{').length - b.path.split('{').length)[0]
}

/** An address with something in each place. */
export const fill = (path: string, place: string | number): string => path.replaceAll(/\{\w+\}/g, encodeURIComponent(place))
