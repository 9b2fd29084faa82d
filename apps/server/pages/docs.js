/** Makes the page from /openapi.json. Everything becomes text nodes: nothing of the description is ever read as HTML. */

const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  element.append(...children.filter((child) => child !== undefined))
  return element
}

/** Words in back-ticks are code. */
const prose = (text) => text.split('`').map((part, index) => (index % 2 ? make('code', {}, part) : part))

const nameOf = (schema) => schema.$ref?.split('/').at(-1)

/** A schema as one would write it down: indented, optional fields with a question mark. */
const write = (schema, components, depth = 0, seen = []) => {
  if (!schema || Object.keys(schema).length === 0) return 'anything'
  const ref = nameOf(schema)
  if (ref) return seen.includes(ref) ? ref : write(components[ref], components, depth, [...seen, ref])
  const alternatives = schema.anyOf ?? schema.oneOf
  if (alternatives) return [...new Set(alternatives.map((one) => write(one, components, depth, seen)))].join(' or ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(' or ')
  if (schema.type === 'array') return `list of ${write(schema.items, components, depth, seen)}`
  if (schema.type === 'object' && schema.properties) return writeObject(schema, components, depth, seen)
  if (schema.type === 'object')
    return schema.additionalProperties ? `map to ${write(schema.additionalProperties, components, depth, seen)}` : 'object'
  return [schema.type ?? 'anything', schema.format && `(${schema.format})`, bounds(schema)].filter(Boolean).join(' ')
}

const writeObject = (schema, components, depth, seen) => {
  const pad = '  '.repeat(depth + 1)
  const fields = Object.entries(schema.properties).map(([name, field]) => {
    const optional = schema.required?.includes(name) ? '' : '?'
    const about = field.description ? `   — ${field.description}` : ''
    return `${pad}${name}${optional}: ${write(field, components, depth + 1, seen)}${about}`
  })
  return fields.length === 0 ? '{ }' : `{\n${fields.join('\n')}\n${'  '.repeat(depth)}}`
}

const bounds = ({ minimum, maximum, minLength, maxLength }) => {
  const tooLarge = (value) => value === undefined || Math.abs(value) >= Number.MAX_SAFE_INTEGER
  const from = [minimum, minLength].find((value) => !tooLarge(value))
  const to = [maximum, maxLength].find((value) => !tooLarge(value))
  if (from === undefined && to === undefined) return undefined
  return `${from ?? ''}…${to ?? ''}${(minLength ?? maxLength) ? ' characters' : ''}`
}

const bodyOf = (holder) => Object.values(holder?.content ?? {})[0]?.schema

const showParameters = (parameters, components) =>
  parameters?.length
    ? make(
        'table',
        {},
        make('thead', {}, make('tr', {}, ...['field', 'in', 'what'].map((text) => make('th', { scope: 'col' }, text)))),
        make(
          'tbody',
          {},
          ...parameters.map(({ name, in: place, required, schema, description }) =>
            make(
              'tr',
              {},
              make('td', {}, make('code', {}, required ? name : `${name}?`)),
              make('td', {}, place),
              make('td', {}, `${write(schema, components)} `, ...prose(description ?? schema?.description ?? '')),
            ),
          ),
        ),
      )
    : undefined

const showAnswers = (responses, components) => {
  const entries = Object.entries(responses)
  const good = entries.filter(([status]) => status < '400')
  const bad = entries.filter(([status]) => status >= '400')
  return [
    ...good.flatMap(([status, response]) => [
      make('h4', {}, `${status} ${response.description === 'Default Response' ? '' : response.description}`),
      make('pre', {}, write(bodyOf(response), components)),
    ]),
    make('h4', {}, 'Refusals'),
    make(
      'table',
      {},
      make(
        'tbody',
        {},
        ...bad.map(([status, { description }]) =>
          make('tr', {}, make('th', { scope: 'row' }, status), make('td', {}, ...prose(description))),
        ),
      ),
    ),
  ]
}

const showOperation = (path, method, operation, components) => {
  const body = bodyOf(operation.requestBody)
  return make(
    'details',
    { id: `${method}-${path.replaceAll(/[^\w]+/g, '-')}` },
    make(
      'summary',
      {},
      make('span', { class: `method ${method}` }, method.toUpperCase()),
      make('code', {}, path),
      make('span', {}, operation.summary ?? ''),
      make('span', { class: 'role' }, operation['x-role'] ?? 'anyone'),
    ),
    make(
      'div',
      {},
      operation.description && make('p', {}, ...prose(operation.description)),
      showParameters(operation.parameters, components),
      body && make('h4', {}, 'Body'),
      body && make('pre', {}, write(body, components)),
      ...showAnswers(operation.responses, components),
    ),
  )
}

const showProblems = (problems) =>
  make(
    'section',
    {},
    make('h2', { id: 'problems' }, 'Problems'),
    make(
      'table',
      {},
      make('thead', {}, make('tr', {}, ...['code', 'status', 'what'].map((text) => make('th', { scope: 'col' }, text)))),
      make(
        'tbody',
        {},
        ...problems.map(({ code, status, title, detail }) =>
          make(
            'tr',
            { id: code },
            make('td', {}, make('code', {}, code)),
            make('td', {}, String(status)),
            make('td', {}, detail ? `${title}. ${detail}` : title),
          ),
        ),
      ),
    ),
  )

const show = (description) => {
  const main = document.querySelector('main')
  const components = description.components?.schemas ?? {}
  document.querySelector('#state').remove()
  main.append(...description.info.description.split('\n\n').map((text) => make('p', {}, ...prose(text))))
  const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  for (const { name, description: about } of description.tags) {
    const own = operations.filter(({ operation }) => operation.tags?.includes(name))
    if (own.length === 0) continue
    main.append(
      make(
        'section',
        {},
        make('h2', { id: name }, name),
        make('p', { class: 'soft' }, about),
        ...own.map(({ path, method, operation }) => showOperation(path, method, operation, components)),
      ),
    )
  }
  main.append(showProblems(description['x-problems'] ?? []))
  const links = [...main.querySelectorAll('h2')].map((title) =>
    make('li', {}, make('a', { href: `#${title.id}` }, title.textContent)),
  )
  document.querySelector('#contents').append(make('ul', {}, ...links), make('a', { href: '/openapi.json' }, 'openapi.json'))
  const wanted = location.hash && document.querySelector(`[id="${CSS.escape(location.hash.slice(1))}"]`)
  if (wanted) {
    if (wanted.tagName === 'DETAILS') wanted.open = true
    wanted.scrollIntoView()
  }
}

try {
  const answer = await fetch('/openapi.json')
  show(await answer.json())
} catch (error) {
  document.querySelector('#state').textContent = `The description cannot be read: ${error.message}. Load the page again.`
}
