import { schema } from '@octokit/graphql-schema'
import { type DefinitionNode, type FieldDefinitionNode, Kind, type NameNode, parse, print } from 'graphql'
import { expect, test } from 'vitest'

/**
 * How `schema.graphql` is made: GitHub's published schema, cut down to what the simulator answers. An argument that is not
 * listed is not served, so that a query that needs it is refused instead of being answered wrongly. After a change of the
 * list or of the published schema: `npx vitest run apps/github-sim/src/graphql/reduce.test.ts -u`.
 */
const page = 'after before first last'
const connection = 'edges nodes pageInfo totalCount'
const edge = 'cursor node'
const repositories = `repositories(${page} affiliations hasIssuesEnabled isArchived isFork isLocked orderBy ownerAffiliations privacy visibility)`
const owner = `avatarUrl(size) id login resourcePath url ${repositories} repository(followRenames name)`
const issues = `issues(${page} filterBy orderBy states)`
const pullRequests = `pullRequests(${page} orderBy states)`
const git = 'abbreviatedOid commitResourcePath commitUrl id oid repository'
const numbered = `id databaseId fullDatabaseId number title body state closed closedAt createdAt updatedAt author url resourcePath repository comments(${page})`

const wanted: Readonly<Record<string, string>> = {
  Query:
    'id viewer user(login) organization(login) repositoryOwner(login) repository(followRenames name owner) node(id) nodes(ids) rateLimit(dryRun)',
  RateLimit: 'cost limit nodeCount remaining resetAt used',
  Node: 'id',
  Actor: 'avatarUrl(size) login resourcePath url',
  UniformResourceLocatable: 'resourcePath url',
  RepositoryOwner: owner,
  User: `${owner} databaseId name email bio company location isViewer createdAt updatedAt followers(${page}) ${pullRequests}`,
  Bot: 'avatarUrl(size) createdAt databaseId id login resourcePath updatedAt url',
  Mannequin: 'avatarUrl(size) createdAt databaseId id login resourcePath updatedAt url',
  Organization: `${owner} databaseId name description createdAt updatedAt`,
  Repository: `id databaseId name nameWithOwner owner description url resourcePath isFork isPrivate isArchived isEmpty isDisabled isLocked isInOrganization
    visibility stargazerCount forkCount diskUsage primaryLanguage createdAt updatedAt pushedAt archivedAt hasIssuesEnabled stargazers(${page})
    defaultBranchRef object(expression oid) ref(qualifiedName) ${issues} ${pullRequests} issue(number) pullRequest(number)`,
  Language: 'id name color',
  Ref: 'id name prefix repository target',
  GitObject: git,
  Commit: `${git} url resourcePath message messageHeadline messageBody authoredDate committedDate additions deletions changedFiles
    changedFilesIfAvailable author committer authoredByCommitter committedViaWeb parents(${page}) history(${page} author since until)`,
  GitActor: 'avatarUrl(size) date email name user',
  Issue: `${numbered} stateReason(enableDuplicate) timelineItems(${page} itemTypes)`,
  PullRequest: `${numbered} merged mergedAt mergedBy isDraft additions deletions changedFiles headRefOid headRefName baseRefName
    headRepository headRepositoryOwner baseRepository isCrossRepository`,
  ClosedEvent: 'id actor createdAt resourcePath url',
  IssueTimelineItems: 'ClosedEvent',
  PageInfo: 'endCursor hasNextPage hasPreviousPage startCursor',
  RepositoryConnection: connection,
  RepositoryEdge: edge,
  IssueConnection: connection,
  IssueEdge: edge,
  PullRequestConnection: connection,
  PullRequestEdge: edge,
  CommitHistoryConnection: connection,
  CommitConnection: connection,
  CommitEdge: edge,
  IssueTimelineItemsConnection: 'edges nodes pageInfo totalCount filteredCount pageCount updatedAt',
  IssueTimelineItemsEdge: edge,
  FollowerConnection: 'pageInfo totalCount',
  StargazerConnection: 'pageInfo totalCount',
  IssueCommentConnection: 'pageInfo totalCount',
  IssueFilters: 'createdBy since states',
  IssueOrder: 'direction field',
  RepositoryOrder: 'direction field',
  CommitAuthor: 'emails id',
  OrderDirection: '*',
  IssueOrderField: '*',
  RepositoryOrderField: '*',
  RepositoryAffiliation: '*',
  RepositoryPrivacy: '*',
  RepositoryVisibility: '*',
  IssueState: '*',
  IssueStateReason: '*',
  PullRequestState: '*',
  IssueTimelineItemsItemType: '*',
  DateTime: '',
  GitTimestamp: '',
  GitObjectID: '',
  URI: '',
  BigInt: '',
}

type Kept = Map<string, ReadonlySet<string>>

const readWanted = (text: string): Kept =>
  new Map([...text.matchAll(/(\w+)(?:\(([^)]*)\))?/g)].map(([, name = '', args = '']) => [name, new Set(args.split(' '))]))

/** Descriptions and directives are stripped at every level: what stays is names, arguments, defaults and types. */
const bare = <T extends object>(node: T): T => ({ ...node, description: undefined, directives: undefined })

function reduceFields<T extends { readonly name: NameNode }>(fields: readonly T[] | undefined, kept: Kept): T[] {
  const rest = new Set(kept.keys())
  const found = (fields ?? []).filter(({ name }) => rest.delete(name.value))
  if (rest.size > 0) throw new Error(`not in GitHub's schema: ${[...rest].join(', ')}`)
  return found.map(bare)
}

function reduceFieldsAndArguments(fields: readonly FieldDefinitionNode[] | undefined, kept: Kept): FieldDefinitionNode[] {
  return reduceFields(fields, kept).map((field) => {
    const listed = kept.get(field.name.value)
    return { ...field, arguments: field.arguments?.filter(({ name }) => listed?.has(name.value)).map(bare) ?? [] }
  })
}

function reduceDefinition(definition: DefinitionNode): DefinitionNode[] {
  if (!('name' in definition) || definition.name === undefined) return []
  const text = wanted[definition.name.value]
  if (text === undefined) return []
  const kept = readWanted(text)
  if (definition.kind === Kind.SCALAR_TYPE_DEFINITION) return [bare(definition)]
  if (definition.kind === Kind.ENUM_TYPE_DEFINITION) return [bare({ ...definition, values: definition.values?.map(bare) ?? [] })]
  if (definition.kind === Kind.UNION_TYPE_DEFINITION)
    return [bare({ ...definition, types: definition.types?.filter(({ name }) => kept.has(name.value)) ?? [] })]
  if (definition.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION)
    return [bare({ ...definition, fields: reduceFields(definition.fields, kept) })]
  if (definition.kind === Kind.OBJECT_TYPE_DEFINITION || definition.kind === Kind.INTERFACE_TYPE_DEFINITION) {
    const interfaces = definition.interfaces?.filter(({ name }) => name.value in wanted) ?? []
    return [bare({ ...definition, interfaces, fields: reduceFieldsAndArguments(definition.fields, kept) })]
  }
  throw new Error(`${definition.kind} ${definition.name.value}: not expected`)
}

/** Long lines are broken as the formatter breaks them. */
const fold = (line: string) =>
  line.length <= 130
    ? line
    : line.replace(/^(.*?)\((.*)\): (.*)$/, (_, field: string, args: string, type: string) =>
        [`${field}(`, ...args.split(/, (?=\w+: )/).map((one) => `    ${one}`), `  ): ${type}`].join('\n'),
      )

test("[G-07] the simulator's schema is GitHub's, cut down by the list in this file", async () => {
  const definitions = parse(schema.idl, { noLocation: true }).definitions.flatMap(reduceDefinition)
  const origin = `# Cut down from GitHub's public GraphQL schema, as published in @octokit/graphql-schema (MIT).
# Written by reduce.test.ts; do not edit.
`
  const text = [origin, ...definitions.map((one) => `${print(one)}\n`)].join('\n').split('\n').map(fold).join('\n')
  await expect(text).toMatchFileSnapshot('schema.graphql')
  expect(definitions).toHaveLength(Object.keys(wanted).length)
})
