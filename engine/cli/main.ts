import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { CommanderError } from 'commander'
import type { Command } from 'commander'
import { makeProgram } from './program.ts'
import { processTerminal } from './terminal.ts'
import type { Environment } from '../config/interpolate.ts'
import type { CommonOptions, Terminal } from './terminal.ts'

/** Maximum characters of the file of the master secret. */
const longest = 4096

/** What the environment says cannot be used: one line, exit code 1. */
class WrongEnvironment extends Error {
  override readonly name = 'WrongEnvironment'
}

/** Runs the command line of this process and sets its exit code. Reads `.env` in the working directory first. */
export async function main(argv: readonly string[]): Promise<void> {
  const terminal = processTerminal()
  try {
    readEnvironment()
    process.exitCode = await run(argv.slice(2), { ...terminal, environment: withSecret(process.env) })
  } catch (error) {
    process.exitCode = failed(error, terminal)
  }
}

/** Adds what `.env` says. Variables of the environment take precedence. */
function readEnvironment(): void {
  try {
    for (const [name, value] of Object.entries(parseEnv(readFileSync('.env', 'utf8')))) process.env[name] ??= value
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT') throw new WrongEnvironment(`.env cannot be read: ${code ?? message}`)
  }
}

/**
 * The environment with the master secret of the file that `SLUICE_SECRET_FILE` names, without one newline at its end. The
 * environment of the process itself does not get it: the system shows that to others of the same user, and children
 * inherit it.
 */
function withSecret(environment: Environment): Environment {
  const { SLUICE_SECRET: given, SLUICE_SECRET_FILE: file } = environment
  if (!file) return environment
  if (given) throw new WrongEnvironment('SLUICE_SECRET and SLUICE_SECRET_FILE are both set; unset one of them')
  let secret: string
  try {
    secret = readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    throw new WrongEnvironment(
      `SLUICE_SECRET_FILE cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'no file'}`,
    )
  }
  if (secret === '' || secret.length > longest)
    throw new WrongEnvironment(`SLUICE_SECRET_FILE must name a file with 1 to ${longest} characters`)
  return { ...environment, SLUICE_SECRET: secret }
}

/**
 * Runs one command. Returns the exit code: 0 for success, 1 for findings or a failure, 2 for wrong usage.
 * @param words the arguments after the program's name
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

/**
 * Without a command, `serve` runs. It is not the parser's default command, because the parser would then take a
 * mistyped command for an argument.
 */
function commanded(words: readonly string[], program: Command): readonly string[] {
  const asks = words.some((word) => ['-h', '--help', '--version'].includes(word))
  return asks || program.parseOptions([...words]).operands.length > 0 ? words : ['serve', ...words]
}

/**
 * Whether the arguments name a command of the engine. Plugins are loaded only for other commands, and to list all
 * commands.
 */
function isOwn(words: readonly string[], own: Command): boolean {
  const [word] = own.parseOptions([...words]).operands
  return words.includes('--version') || own.commands.some((command) => command.name() === word)
}

/** Adds the commands of the configuration's plugins. Plugins that cannot be loaded are reported by `check` only. */
async function declarePlugins(
  program: Command,
  words: readonly string[],
  terminal: Terminal,
  exit: (code: number) => void,
): Promise<void> {
  const { declareCommand } = await import('./declare-command.ts')
  const { loadConfiguration } = await import('../live/load-configuration.ts')
  const { environment, folder: root } = terminal
  // A separate parser: otherwise its options would still be set when the command's arguments are parsed.
  const parser = makeProgram(terminal, () => undefined)
  parser.parseOptions([...words])
  const { config: file } = parser.opts<CommonOptions>()
  const { registry } = await loadConfiguration({ file, root, environment })
  for (const command of registry.commands.values()) declareCommand(program, command, terminal, exit)
}

/** Prints an error. An expected error is one line, without a stack. */
function failed(error: unknown, terminal: Terminal): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error))
  // Compared by name: most commands do not need the modules that define these classes.
  const expected = ['WrongUse', 'WrongEnvironment', 'StartError'].includes(name)
  terminal.error(expected ? `sluice: ${message}` : (stack ?? message))
  return name === 'WrongUse' ? 2 : 1
}
