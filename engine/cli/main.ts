import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { CommanderError } from 'commander'
import type { Command } from 'commander'
import { makeProgram } from './program.ts'
import { processTerminal } from './terminal.ts'
import type { Terminal } from './terminal.ts'

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
    const program = makeProgram(terminal, (code) => (status = code))
    await program.parseAsync(commanded(words, program), { from: 'user' })
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

/** Says what went wrong; what is no fault of ours is one line. */
function failed(error: unknown, terminal: Terminal): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error))
  // By name: the classes live in modules that most commands have no need to load.
  const expected = name === 'WrongUse' || name === 'StartError'
  terminal.error(expected ? `sluice: ${message}` : (stack ?? message))
  return name === 'WrongUse' ? 2 : 1
}
