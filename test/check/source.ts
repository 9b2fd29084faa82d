/**
 * Reads TypeScript without a parser: the code without its comments, and the modules a file names.
 *
 * TypeScript 7 offers no parser to JavaScript, and the rules that use this need only a few certain facts. One expression
 * walks over strings, templates, regular expressions and comments, so that a `//` in a string is not taken for a comment
 * and an `import` in a comment is not taken for an import.
 */

const token = new RegExp(
  [
    /(?<comment>\/\*[\s\S]*?\*\/|\/\/[^\n]*)/,
    /(?<template>`(?:\\[\s\S]|[^`\\])*`)/,
    /(?<string>'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")/,
    /(?<=(?:[(=,:[!&|?{};+]|=>|\breturn)\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/\w*/,
  ]
    .map((part) => part.source)
    .join('|'),
  'g',
)

/** The code with its comments blanked out; line numbers stay. */
export const withoutComments = (text: string): string => blank(text, ['comment'])

/** The code with comments and quoted strings blanked out; templates stay, because they hold code. */
export const codeOf = (text: string): string => blank(text, ['comment', 'string'])

const blank = (text: string, kinds: readonly string[]): string =>
  text.replace(token, (match, ...rest) => {
    const groups = rest.at(-1) as Record<string, string | undefined>
    return kinds.some((kind) => groups[kind] !== undefined) ? match.replace(/[^\n]/g, ' ') : match
  })

const statement = /^(?:import|export)\b(?:[^'"`;()]*?\bfrom)?\s*(['"])(?<specifier>[^'"\n]+)\1/gm
const dynamic = /\bimport\s*\(\s*(['"`])(?<specifier>[^'"`\n$]+)\1/g

/** Every module that a source names in an import, a re-export, a dynamic import or an import type. */
export function importedBy(text: string): string[] {
  const code = blank(text, ['comment', 'template'])
  const found = [...code.matchAll(statement), ...withoutComments(text).matchAll(dynamic)]
  return [...new Set(found.flatMap((match) => match.groups?.specifier ?? []))]
}
