/**
 * Style that no linter knows, as pure functions from the tree to complaints (after TigerBeetle's tidy.zig).
 *
 * A complaint says where and what, so that a failing test needs no second look. Exceptions are rows with a reason, kept as
 * few as they can be: whoever adds one has to write down why.
 */
import { type LockFile, missingEntries } from '#scripts/lock-file'
import { codeOf, withoutComments } from './source.ts'
import type { Tree } from './tree.ts'

export type Rule = (files: Tree) => string[]
type Exception = { readonly matches: RegExp; readonly because: string }

const sourceLinesMax = 300
const testLinesMax = 400

const isCode = (file: string) => /\.(?:ts|tsx|js|mjs)$/.test(file)
const isTest = (file: string) => /^test\/|\.(?:test|suite)\.ts$/.test(file)
const isLock = (file: string) => /(?:^|\/)package-lock\.json$/.test(file)
const isPackageSource = (file: string) => /^(?:packages|apps)\/[^/]+\/src\/.*\.tsx?$/.test(file) && !isTest(file)

export const smallFiles: Rule = (files) =>
  select(files, isCode, (file, text) => {
    const [lines, limit] = [text.trimEnd().split('\n').length, isTest(file) ? testLinesMax : sourceLinesMax]
    return lines > limit ? [`${file}: ${lines} lines, the limit is ${limit}; split it by reason to change`] : []
  })

export const tellingNames: Rule = (files) =>
  select(
    files,
    () => true,
    (file) => {
      const vague = file.split('/').find((part) => /^(?:utils?|helpers?|types?|common|misc|interfaces?)(?:\.|$)/.test(part))
      return vague ? [`${file}: "${vague}" says nothing; name it after its one reason`] : []
    },
  )

export const headers: Rule = (files) =>
  select(files, isPackageSource, (file, text) => {
    const opens = /^(?:#!.*\n)?\s*\/\*\*[\s\S]*?\w[\s\S]*?\*\//.test(text)
    return opens ? [] : [`${file}: opens without a header comment that says what and why`]
  })

/** Time and chance come in as arguments, so that tests can turn the clock. */
const ambientExceptions: readonly Exception[] = [
  { matches: /^packages\/engine\/src\/support\/clock\.ts$/, because: 'the clock itself' },
  { matches: /^packages\/engine\/src\/testing\//, because: 'what users test with may wait for real' },
]

export const noAmbientTime: Rule = (files) =>
  select(
    files,
    (file) => file.startsWith('packages/engine/src/') && isPackageSource(file) && !excepted(ambientExceptions, file),
    (file, text) =>
      lines(
        file,
        codeOf(text),
        /\b(?:Date\.now\(|new Date\(\s*\)|Math\.random\(|setTimeout\(|setInterval\()/,
        'comes from the clock',
      ),
  )

export const noInheritance: Rule = (files) =>
  select(files, isCode, (file, text) =>
    lines(file, codeOf(text), /\bclass\b(?:\s+\w+)?(?:<[^>{]*>)?\s+extends\s+(?!Error\b)[\w.]+/, 'extend nothing but Error'),
  )

export const noMutedTests: Rule = (files) =>
  select(files, isTest, (file, text) =>
    lines(file, codeOf(text), /\b(?:test|it|describe|suite)(?:\.\w+)*\.(?:only|skip|todo)\b/, 'run it or delete it'),
  )

export const doorsOnlyReexport: Rule = (files) =>
  select(
    files,
    (file) => /^(?:packages|apps)\/[^/]+\/src\/(?:.*\/)?index\.ts$/.test(file),
    (file, text) => {
      const rest = withoutComments(text).replace(/^export\s+(?:type\s+)?(?:\{[^}]*\}|\*(?:\s+as\s+\w+)?)\s+from\s+'[^']+'/gm, '')
      return rest.trim() === '' ? [] : [`${file}: a door only re-exports, but has: ${rest.trim().split('\n')[0]}`]
    },
  )

/** Places that every machine of their kind has; a developer's own folders are never among them. */
const systemLocations: readonly Exception[] = [
  { matches: /^\/usr\/bin\/env\b/, because: 'the first line of a script' },
  { matches: /^\/usr\/bin\/python3\b/, because: "Debian's own Python, which has the packages of Debian" },
  { matches: /^\/usr\/lib\/postgresql\b/, because: 'where Debian keeps its PostgreSQL versions' },
  { matches: /^\/usr\/lib\/python3\b/, because: 'where Debian keeps modules of Python' },
  { matches: /^\/usr\/sbin\b/, because: 'where Debian keeps servers, and the policy that forbids to start them' },
  { matches: /^\/var\/lib\/sluice\b/, because: 'where the local PostgreSQL lives when its owner is root' },
  { matches: /^\/etc\/passwd\b/, because: 'the accounts of a Unix machine' },
  {
    matches: /^\/tmp in .*\/socket-folder\.ts$/,
    because: 'the path of a socket is short, and the temporary folder can be too long for it',
  },
]

const absolute =
  /(?<![\w.~@})\]*+\\-])\/(?:tmp|home|root|work|Users|mnt|opt|srv|private|usr|var|etc)(?:\/[\w.@-]+)*(?=[/\s'"`),;:<]|$)/gm

export const noMachinePaths: Rule = (files) =>
  select(
    files,
    (file) => !isLock(file),
    (file, text) =>
      [...text.matchAll(absolute)]
        .filter((match) => !excepted(systemLocations, `${match[0]} in ${file}`))
        .map((match) => `${file}:${lineOf(text, match.index)}: ${match[0]} is a path of one machine`),
  )

export const noRegistryHosts: Rule = (files) =>
  select(
    files,
    (file) => isLock(file) || /(?:^|\/)\.npmrc$/.test(file),
    (file, text) =>
      lines(file, text, /"resolved":\s*"\w+:\/\/|registry\s*=|_auth/i, 'a lock file names versions and digests, no host'),
  )

export const completeLocks: Rule = (files) =>
  select(files, isLock, (file, text) =>
    Object.keys(missingEntries(JSON.parse(text) as LockFile)).map(
      (path) => `${file}: ${path} is missing, so npm ci refuses it; run node scripts/dist/complete-lock.js`,
    ),
  )

const excepted = (exceptions: readonly Exception[], text: string) => exceptions.some(({ matches }) => matches.test(text))

const select = (files: Tree, wanted: (file: string) => boolean, find: (file: string, text: string) => string[]): string[] =>
  [...files].filter(([file]) => wanted(file)).flatMap(([file, text]) => find(file, text))

const lines = (file: string, text: string, pattern: RegExp, why: string): string[] =>
  text.split('\n').flatMap((line, index) => {
    const match = pattern.exec(line)
    return match ? [`${file}:${index + 1}: ${match[0].trim()} – ${why}`] : []
  })

const lineOf = (text: string, index: number): number => text.slice(0, index).split('\n').length
