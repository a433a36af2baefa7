import { resolve } from 'node:path'
import type { Command } from 'commander'
import { printDiagnostic } from '../config/diagnostics.ts'
import type { Registry } from '../config/registry.ts'
import { didYouMean } from '../config/suggest.ts'
import { loadConfiguration } from '../live/load-configuration.ts'
import type { Json } from '../spec/json.ts'
import type { Documented } from '../openapi/document.ts'
import { declareCommand } from './declare-command.ts'
import { kinds } from './kinds.ts'
import type { Kind } from './kinds.ts'
import { componentsOf } from './reference/components.ts'
import type { Component } from './reference/components.ts'
import { kindPage, referencePages } from './reference/pages.ts'
import { printWritten, writeFiles } from './schema.ts'
import { WrongUse } from './terminal.ts'
import type { CommonOptions, Terminal } from './terminal.ts'
import { columns, printJson, wrap } from '../kit/text.ts'

export interface ListOptions extends CommonOptions {
  /** A kind of `kinds`; absent: all of them. */
  readonly kind: string | undefined
  /** The component to describe. */
  readonly name: string | undefined
  readonly markdown: boolean
  /** Folder for the pages of the reference; absent: standard output. */
  readonly out?: string
}

/** Creates the program with the engine's own commands; `exit` receives the exit code of the command. */
type MakeProgram = (terminal: Terminal, exit: (code: number) => void) => Command

/** Prints the registered components: one line each, all details of one, or the reference. */
export async function list(options: ListOptions, terminal: Terminal, make: MakeProgram): Promise<number> {
  const { environment, folder } = terminal
  const configuration = await loadConfiguration({ file: options.config, root: folder, environment })
  const { registry, diagnostics } = configuration
  if (registry.incomplete) for (const diagnostic of diagnostics) terminal.error(printDiagnostic(diagnostic))
  const kind = kinds.find((word) => word === options.kind)
  if (options.markdown || options.out !== undefined) await reference(kind, options.out, configuration, terminal, make)
  else if (kind !== undefined && options.name !== undefined)
    describe(find(kind, options.name, registry), options.json, terminal)
  else overview(kind === undefined ? kinds : [kind], registry, options.json, terminal)
  return registry.incomplete ? 1 : 0
}

async function reference(
  kind: Kind | undefined,
  out: string | undefined,
  documented: Documented,
  terminal: Terminal,
  make: MakeProgram,
): Promise<void> {
  const pages =
    kind === undefined
      ? referencePages(documented, programOf(documented.registry, terminal, make))
      : new Map([[`${kind}.md`, kindPage(kind, documented)]])
  if (out === undefined) terminal.out([...pages.values()].join('\n').trimEnd())
  else terminal.out(printWritten(await writeFiles(pages, resolve(terminal.folder, out)), out))
}

/** All commands, including those of plugins. */
export function programOf({ commands }: Registry, terminal: Terminal, make: MakeProgram): Command {
  const exit = () => undefined
  const program = make({ ...terminal, environment: {} }, exit)
  for (const command of commands.values()) declareCommand(program, command, terminal, exit)
  return program
}

function find(kind: Kind, name: string, registry: Registry): Component {
  const components = componentsOf(kind, registry)
  const found = components.find((component) => component.name === name)
  if (found) return found
  throw new WrongUse(
    `there is no "${name}" among the ${kind}${didYouMean(
      name,
      components.map((component) => component.name),
    )}`,
  )
}

function overview(shown: readonly Kind[], registry: Registry, json: boolean, terminal: Terminal): void {
  const found = shown.map((kind) => ({ kind, components: componentsOf(kind, registry) }))
  if (json) {
    const lines = found.map(
      ({ kind, components }) =>
        [kind, components.map(({ name, summary, listed }) => ({ name, summary, ...listed }))] as const,
    )
    terminal.out(printJson(Object.fromEntries(lines)))
    return
  }
  const blocks = found.map(({ kind, components }) => {
    const rows = columns(
      components.map(({ name, summary }) => [name, summary]),
      '  ',
    )
    return `${terminal.style('bold', kind)}\n${rows}`
  })
  terminal.out(blocks.join('\n\n'))
}

function describe(component: Component, json: boolean, terminal: Terminal): void {
  const { name, summary, facts, fields, example } = component
  if (json) {
    terminal.out(printJson({ ...component, facts: Object.fromEntries(facts) } as unknown as Json))
    return
  }
  const told = facts.map(([word, text]) => [word, text])
  const rows = fields.flatMap(({ path, type, required, default: value, description }) => {
    const fallback = value === undefined ? '' : `; default ${typeof value === 'string' ? value : JSON.stringify(value)}`
    return [[path, `${type}${required ? '; required' : fallback}`], ...(description === '' ? [] : [['', description]])]
  })
  const parts = [
    `${terminal.style('bold', name)}\n  ${wrap(summary, '  ')}`,
    columns(told, '  '),
    rows.length === 0 ? '' : `fields\n${columns(rows, '  ')}`,
    example === '' ? '' : `example\n${example.trimEnd().replaceAll(/^/gm, '  ')}`,
  ]
  terminal.out(parts.filter((part) => part !== '').join('\n\n'))
}
