import type { Command } from 'commander'
import { code, page, table } from './markdown.ts'

/** The reference page of the command line, generated from the declared commands. */
export function commandsPage(program: Command): string {
  const introduction =
    'In a checkout: `npx sluice <command>`; `npm start` is `sluice serve`. Exit codes: 0 fine, 1 findings or a failure, 2 wrong use. A `.env` in the working directory is read first.'
  const everywhere = ['## Every command', options(program)].join('\n\n')
  return page('Commands', introduction, [
    ...program.commands.flatMap((command) => sections(command, program.name())),
    everywhere,
  ])
}

function sections(command: Command, above: string): string[] {
  const name = `${above} ${command.name()}`
  if (command.commands.length > 0) return command.commands.flatMap((inner) => sections(inner, name))
  const usage = `\`\`\`\n${name} ${command.usage()}\n\`\`\``
  return [[`## ${name}`, command.description(), usage, details(command)].filter((part) => part !== '').join('\n\n')]
}

function details(command: Command): string {
  const { registeredArguments: words } = command
  const rows = words.map((word) => [code(word.name()), [word.description, choices(word.argChoices)].join('')])
  return [rows.length === 0 ? '' : table(['Argument', 'What it is'], rows), options(command)]
    .filter((part) => part !== '')
    .join('\n\n')
}

function options(command: Command): string {
  const rows = command.options.map(({ flags, description, defaultValue }) => {
    const fallback: unknown = defaultValue
    const said = typeof fallback === 'string' || typeof fallback === 'number'
    return [code(flags), said ? `${description} Default: ${code(String(fallback))}.` : description]
  })
  return rows.length === 0 ? '' : table(['Option', 'What it does'], rows)
}

function choices(words: readonly string[] | undefined): string {
  return words === undefined ? '' : ` One of ${words.join(', ')}.`
}
