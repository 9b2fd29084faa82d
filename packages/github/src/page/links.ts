/**
 * The Link header (RFC 8288), read character by character, because a link may hold commas and semicolons of its own. Links are
 * handed on as they are: GitHub changed from page numbers to cursors without notice, and whoever had built the links himself
 * lost pages.
 */
export function readLinks(header: string | null): Record<string, string> {
  const links = new Map<string, string>()
  const text = header ?? ''
  for (let at = text.indexOf('<'); at !== -1; ) {
    const end = text.indexOf('>', at)
    if (end === -1) break
    const parameters = readParameters(text, end + 1)
    const target = text.slice(at + 1, end).trim()
    for (const rel of (parameters.values.get('rel') ?? '').toLowerCase().split(/\s+/))
      if (rel !== '' && !links.has(rel)) links.set(rel, target)
    at = text.indexOf('<', parameters.end)
  }
  return Object.fromEntries(links)
}

/** `; name=value; name="quoted value"` up to the comma that ends the link. */
function readParameters(text: string, start: number): { values: Map<string, string>; end: number } {
  const values = new Map<string, string>()
  const parameter = /\s*;\s*(?:([\w!#$&+.^`|~*-]+)\s*(?:=\s*(?:"([^"]*)"|([^\s",;<]*)))?)?/y
  let end = start
  for (;;) {
    parameter.lastIndex = end
    const match = parameter.exec(text)
    if (!match) return { values, end }
    end = parameter.lastIndex
    const name = match[1]?.toLowerCase()
    if (name !== undefined && !values.has(name)) values.set(name, match[2] ?? match[3] ?? '')
  }
}
