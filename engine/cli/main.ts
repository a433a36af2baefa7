import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { CommanderError } from 'commander'
import type { Command } from 'commander'
import { makeProgram } from './program.ts'
import { processTerminal } from './terminal.ts'
import type { CommonOptions, Terminal } from './terminal.ts'

/** Runs the command line of this process and sets its exit code. A `.env` in the working directory is read first. */
export async function main(argv: readonly string[]): Promise<void> {
  const terminal = processTerminal()
  process.exitCode = readEnvironment(terminal) ? await run(argv.slice(2), terminal) : 1
}

function readEnvironment(terminal: Terminal): boolean {
  try {
    // What the environment says already counts.
    for (const [name, value] of Object.entries(parseEnv(readFileSync('.env', 'utf8')))) process.env[name] ??= value
    return true
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return true
    terminal.error(`sluice: .env cannot be read: ${code ?? message}`)
    return false
  }
}

/**
 * Runs one command. Answers the exit code: 0 fine, 1 findings or a failure, 2 wrong use.
 * @param words what follows the program's name
 */
export async function run(words: readonly string[], terminal: Terminal): Promise<number> {
  let status = 0
  try {
    const exit = (code: number) => void (status = code)
    const program = makeProgram(terminal, exit)
    const given = commanded(words, program)
    if (!isOwn(given, program)) await declarePlugins(program, given, terminal, exit)
    await program.parseAsync(given, { from: 'user' })
    return status
  } catch (error) {
    return failed(error, terminal)
  }
}

/** Words without a command serve. Not by a default of the parser: it would take a mistyped command for an argument. */
function commanded(words: readonly string[], program: Command): readonly string[] {
  const asks = words.some((word) => ['-h', '--help', '--version'].includes(word))
  return asks || program.parseOptions([...words]).operands.length > 0 ? words : ['serve', ...words]
}

/** Whether the words are for a command of the engine: plugins are loaded only for another one, and to list all. */
function isOwn(words: readonly string[], own: Command): boolean {
  const [word] = own.parseOptions([...words]).operands
  return words.includes('--version') || own.commands.some((command) => command.name() === word)
}

/** Adds the commands that the plugins of the configuration bring. What is wrong with one that cannot be loaded, says `check`. */
async function declarePlugins(
  program: Command,
  words: readonly string[],
  terminal: Terminal,
  exit: (code: number) => void,
): Promise<void> {
  const { declareCommand } = await import('./declare-command.ts')
  const { loadConfiguration } = await import('../live/configuration.ts')
  const { environment, folder: root } = terminal
  // Options that were read once would be there when they are read for the command.
  const parser = makeProgram(terminal, () => undefined)
  parser.parseOptions([...words])
  const { config: file } = parser.opts<CommonOptions>()
  const { registry } = await loadConfiguration({ file, root, environment })
  for (const command of registry.commands.values()) declareCommand(program, command, terminal, exit)
}

/** Says what went wrong; what is no fault of ours is one line. */
function failed(error: unknown, terminal: Terminal): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error))
  // By name: the classes live in modules that most commands have no need to load.
  const expected = name === 'WrongUse' || name === 'StartError'
  terminal.error(expected ? `sluice: ${message}` : (stack ?? message))
  return name === 'WrongUse' ? 2 : 1
}
