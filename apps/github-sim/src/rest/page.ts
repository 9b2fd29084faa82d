/**
 * Pages by number, and the Link header as GitHub writes it: prev, next, last, first, with numeric ids in the addresses and
 * the caller's own parameters kept.
 */
const pageDefault = 30
const pageMax = 100

export interface PageAsk {
  readonly page: number
  readonly perPage: number
}

export function readPage(query: URLSearchParams): PageAsk {
  const page = Math.max(1, whole(query.get('page')) ?? 1)
  const perPage = whole(query.get('per_page')) ?? pageDefault
  return { page, perPage: perPage < 1 ? pageDefault : Math.min(pageMax, perPage) }
}

export function cutPage<T>(all: readonly T[], { page, perPage }: PageAsk): readonly T[] {
  return all.slice((page - 1) * perPage, page * perPage)
}

/** No header at all if everything fits on one page. */
export function linkHeader(
  address: string,
  query: URLSearchParams,
  { page, perPage }: PageAsk,
  total: number,
): Record<string, string> {
  const last = Math.max(1, Math.ceil(total / perPage))
  const to = (number: number) => withParameters(address, query, { page: String(number) })
  const links: [string, string][] = []
  if (page > 1) links.push(['prev', to(Math.min(page - 1, last))])
  if (page < last) links.push(['next', to(page + 1)], ['last', to(last)])
  if (page > 1) links.push(['first', to(1)])
  return writeLinks(links)
}

export function writeLinks(links: readonly (readonly [rel: string, url: string])[]): Record<string, string> {
  return links.length === 0 ? {} : { link: links.map(([rel, url]) => `<${url}>; rel="${rel}"`).join(', ') }
}

/** The last of a repeated parameter wins; an empty value takes a parameter away. */
export function withParameters(address: string, query: URLSearchParams, changes: Readonly<Record<string, string>>): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of query) parameters.set(name, value)
  for (const [name, value] of Object.entries(changes)) {
    parameters.delete(name)
    if (value !== '') parameters.set(name, value)
  }
  return `${address}?${parameters.toString()}`
}

function whole(text: string | null): number | undefined {
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined
}
