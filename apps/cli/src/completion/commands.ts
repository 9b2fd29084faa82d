/**
 * `sluice completion`: prints the script for a shell.
 */
import { CommandError, exit } from '../session/exit.ts'
import type { Leaf } from '../session/tree.ts'
import { type Shell, shells } from './scripts.ts'

export const completionLeaf: Leaf = {
  usage: 'completion <shell>',
  about: 'print the completion script for bash, zsh or fish',
  examples: [
    ['source <(sluice completion bash)', 'in ~/.bashrc; zsh likewise'],
    ['sluice completion fish > ~/.config/fish/completions/sluice.fish', 'for fish'],
  ],
  load: async () => {
    const { completionScript } = await import('./scripts.ts')
    return async ({ args: [shell = ''], session, program }) => {
      if (!isShell(shell))
        throw new CommandError(
          exit.usage,
          'UNKNOWN_SHELL',
          `There is no completion for "${shell}". Write one of ${shells.join(', ')}.`,
        )
      session.output.raw(completionScript(shell, program))
    }
  },
}

function isShell(text: string): text is Shell {
  return (shells as readonly string[]).includes(text)
}
