import { Argument, Option } from 'commander'
import type { Command } from 'commander'
import type { AnyCommand, OptionWords } from '../spec/command.ts'
import type { Json } from '../spec/json.ts'
import type { CommonOptions, Terminal } from './terminal.ts'

/** The parts of a schema that the command line shows. */
interface Field {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly default?: Json
  readonly enum?: readonly string[]
}

/** Adds a plugin's command to the program, in the group named by its first word. */
export function declareCommand(
  program: Command,
  command: AnyCommand,
  terminal: Terminal,
  exit: (code: number) => void,
): void {
  const { properties = {}, required = [] } = command.options as {
    properties?: Readonly<Record<string, Field>>
    required?: readonly string[]
  }
  const words = command.name.split(' ')
  const [group = '', word = group] = words
  const parent = words.length > 1 ? groupOf(program, group, command) : program
  const declared = parent.command(word).description(command.summary)
  for (const name of command.arguments) {
    const { type, description } = properties[name] ?? {}
    const text = `${name}${type === 'array' ? '...' : ''}`
    declared.addArgument(new Argument(required.includes(name) ? `<${text}>` : `[${text}]`, description))
  }
  const options = Object.entries(properties).filter(([name]) => !command.arguments.includes(name))
  for (const [name, field] of options)
    declared.addOption(optionOf(name, field, command.words[name]).makeOptionMandatory(required.includes(name)))
  declared.action(async function (this: Command, ...given: unknown[]) {
    const all = this.optsWithGlobals<CommonOptions & Record<string, Json | undefined>>()
    const named = options.map(([name]) => [name, all[camelCase(name)]] as const)
    const placed = command.arguments.map((name, index) => [name, given[index] as Json | undefined] as const)
    const values = [...named, ...placed].filter(([, value]) => value !== undefined)
    const { runCommand } = await import('./plugin-command.ts')
    exit(await runCommand(command, Object.fromEntries(values), all, terminal))
  })
}

function groupOf(program: Command, name: string, { group }: AnyCommand): Command {
  const made = program.commands.find((command) => command.name() === name) ?? program.command(name)
  const unsaid = `Commands that begin with "${name}".`
  return [unsaid, ''].includes(made.description()) ? made.description(group ?? unsaid) : made
}

function optionOf(
  name: string,
  { type, description, default: usual, enum: values }: Field,
  { short, value = name }: OptionWords = {},
): Option {
  const flags = `${short === undefined ? '' : `-${short}, `}--${name.replaceAll('_', '-')}`
  const given = type === 'boolean' ? '' : type === 'array' ? ` <${value}...>` : ` <${value}>`
  const option = new Option(flags + given, description)
  if (values) option.choices(values)
  return usual === undefined ? option : option.default(usual)
}

/** The key under which the parser returns an option. */
function camelCase(name: string): string {
  return name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
}
