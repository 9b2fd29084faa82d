import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { moves } from '@sluice/engine'
import type { Command } from 'commander'
import { expect } from 'vitest'
import { test } from '../../../../test/support/sluice.ts'
import { tree } from '../commands.ts'
import { completionScript, shells } from '../completion/scripts.ts'
import { bulkActions, jobStates } from '../jobs/words.ts'
import { buildProgram } from './program.ts'

const program = buildProgram(tree, '0', async () => {})
const shell = promisify(execFile)

function leavesOf(command: Command, path: string[] = []): { command: Command; path: string[] }[] {
  if (command.commands.length === 0) return [{ command, path }]
  return command.commands.flatMap((one) => leavesOf(one, [...path, one.name()]))
}

function helpOf(command: Command): string {
  let text = ''
  command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp()
  return text
}

const leaves = leavesOf(program)

test('[O-06] every command has a help page with an example of itself', () => {
  expect(leaves.length).toBeGreaterThan(30)
  for (const { command, path } of leaves) {
    const help = helpOf(command)
    expect(help, path.join(' ')).toMatch(new RegExp(`Examples:\\n  \\$ .*sluice ${path.join(' ')}\\b`))
    expect(command.description(), path.join(' ')).not.toBe('')
  }
})

test('[O-06] every option in an example exists', () => {
  for (const { command, path } of leaves) {
    const known = [...command.options, ...program.options].flatMap(({ long, short }) => [long, short])
    const examples = [...helpOf(command).matchAll(/^ {2}\$ (.*?) {2}# /gm)].map(([, text = '']) =>
      text.slice(text.indexOf('sluice ')),
    )
    expect(examples.length, path.join(' ')).toBeGreaterThan(0)
    for (const example of examples.filter((text) => text.includes(`sluice ${path.join(' ')}`)))
      for (const [, flag] of example.matchAll(/(?<=\s)(--[\w-]+|-[a-z])(?=\s|$)/g))
        expect(known, `${example}: ${flag}`).toContain(flag)
  }
})

test('[O-06] the words of help and completion are those of the engine', () => {
  expect([...jobStates].toSorted()).toEqual(Object.keys(moves).toSorted())
  expect(bulkActions).toEqual(['retry', 'cancel', 'discard'])
})

test('[O-06] help loads neither Fastify nor a database driver', async ({ folder }) => {
  const bin = new URL('../../bin/sluice.js', import.meta.url)
  const { stdout } = await shell(process.execPath, ['--input-type=module', '-e', listLoaded(bin.href)], { cwd: folder })
  const loaded = stdout.slice(stdout.lastIndexOf('LOADED') + 6)
  expect(loaded).toContain('commander')
  expect(loaded).not.toMatch(/node_modules\/(?:fastify|pg|zod|pino|prom-client)\//)
})

/** Modules are found in the loader's own list of what was resolved. */
function listLoaded(program: string): string {
  return `
    import { register } from 'node:module'
    import { MessageChannel } from 'node:worker_threads'
    const { port1, port2 } = new MessageChannel()
    const seen = []
    port1.on('message', (url) => seen.push(url))
    port1.unref()
    register('data:text/javascript,' + encodeURIComponent(\`
      let port
      export async function initialize(data) { port = data }
      export async function load(url, context, next) { port.postMessage(url); return next(url, context) }
    \`), { data: port2, transferList: [port2] })
    const leave = process.exit
    process.exit = () => setImmediate(() => { console.log('LOADED' + seen.join(' ')); leave(0) })
    process.argv = [process.argv[0], 'sluice', '--help']
    await import(${JSON.stringify(program)})
  `
}

test('[O-06] a command or option with a typing error is refused with the one that was meant', async ({ sluice }) => {
  expect(await sluice(['staus'])).toMatchObject({ code: 2, out: '', err: expect.stringContaining('Did you mean status?') })
  expect(await sluice(['jobs', 'enqeue'])).toMatchObject({ code: 2, err: expect.stringContaining('Did you mean enqueue?') })
  expect(await sluice(['enqueue', 'sluice.ping', '--wait'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('Did you mean jobs enqueue?'),
  })
  for (const [word, meant] of [
    ['list', 'one of jobs list, runs list, kinds list,'],
    ['pause', 'one of kinds pause, pools pause, lanes pause, owners pause, schedules pause?'],
    ['retry', 'one of jobs retry, runs retry?'],
    ['cancel', 'one of jobs cancel, runs cancel?'],
  ] as const)
    expect(await sluice([word])).toMatchObject({ code: 2, out: '', err: expect.stringContaining(`Did you mean ${meant}`) })
  expect(await sluice(['jobs', 'start'])).toMatchObject({ code: 2, err: expect.stringContaining('Did you mean runs start?') })
  expect(await sluice(['jobs', 'list', '--stat', 'ready'])).toMatchObject({ code: 2, err: expect.stringContaining('--state') })
  expect(await sluice(['jobs', 'list', '--state', 'redy'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('Write one of'),
  })
  expect(await sluice(['jobs'])).toMatchObject({ code: 2, out: '', err: expect.stringContaining('Usage: sluice jobs') })
  expect(await sluice([])).toMatchObject({ code: 0, err: '', out: expect.stringContaining('Usage: sluice') })
  expect(await sluice(['--version'])).toMatchObject({ code: 0, out: '0.1.0\n' })
})

test('[O-06] completion in bash offers what the tree has', async ({ folder, sluice }) => {
  const { out: script, code } = await sluice(['completion', 'bash'])
  expect(code).toBe(0)
  expect(script).toBe(completionScript('bash', program))
  const complete = async (...words: string[]): Promise<string[]> => {
    const ask = `COMP_WORDS=(sluice ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _sluice; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout } = await shell('bash', ['--norc', '-c', `${script}\n${ask}`], { cwd: folder })
    return stdout.split('\n').filter((line) => line !== '')
  }
  expect(await complete('jo')).toEqual(['jobs'])
  expect(await complete('jobs', '')).toEqual(expect.arrayContaining(['list', 'show', 'why', 'enqueue', 'bulk', '--json']))
  expect(await complete('jobs', 'list', '--sta')).toEqual(['--state'])
  expect(await complete('jobs', 'list', '--state', 'r')).toEqual(['ready', 'running'])
  expect(await complete('--json', 'lanes', 'pa')).toEqual(['pause'])
  expect(await complete('--database', 'jobs', 'lan')).toEqual(['lanes'])
  expect(await complete('jobs', 'list', '--json', '--run', '7', '--ow')).toEqual(['--owner'])
})

test('[O-06] completion for the other shells names every command', () => {
  for (const one of shells.filter((name) => name !== 'bash')) {
    const script = completionScript(one, program)
    for (const { path } of leaves) expect(script, `${one}: ${path.join(' ')}`).toContain(path.at(-1))
  }
})
