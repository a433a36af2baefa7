import type { JSONSchema } from 'json-schema-to-ts'
import type { JsonObject } from './json.ts'
import type { ConfigOf } from './config.ts'
import type { ServiceName, Views } from './service.ts'

/** Where a command writes what it has to say. */
export interface CommandOutput {
  /** Results are wanted as JSON. */
  readonly json: boolean
  /** Prints lines to standard output: results. */
  readonly out: (text: string) => void
  /** Prints lines to standard error. */
  readonly error: (text: string) => void
  /** The text in a style, where standard output is a terminal. */
  readonly style: (format: Style, text: string) => string
  /** Folder that relative paths start from. */
  readonly folder: string
  /** Aborts when nobody reads standard output any more: no reason to go on for ever. */
  readonly unread?: AbortSignal
}

export type Style = 'bold' | 'dim' | 'green' | 'red'

/** How an option is written, where its name does not say it. */
export interface OptionWords {
  /** The letter of its short form: `f` for `-f`. */
  readonly short?: string
  /** What its value is called in the help; absent: as the option. */
  readonly value?: string
}

/** A command of the command line: `sluice <name>`. */
export interface CommandParts<S, U extends ServiceName> {
  /** Its word, or two for one of a group: `logs`, `key create`. */
  readonly name: string
  readonly summary: string
  /** What its group is for, where its name has two words; of several commands that say it, the first is heard. */
  readonly group?: string
  /**
   * JSON Schema of what it is given; every property has a description. A property is an option of its name
   * (`--max-rows` for `max_rows`): a boolean is a flag, a list takes several words.
   */
  readonly options: S
  /** Properties that are given by their place, without a name. */
  readonly arguments?: readonly (keyof ConfigOf<S> & string)[]
  readonly words?: { readonly [O in keyof ConfigOf<S> & string]?: OptionWords }
  /** Services whose views it is run with. They are opened beside those of gateways that are running. */
  readonly uses?: readonly U[]
  /** Answers the exit code: 0 fine, 1 a failure. A `Refusal` is wrong use: one line, exit code 2. */
  run(options: ConfigOf<S>, services: Views<U>, output: CommandOutput): Promise<number>
}

/** A declared command, as a registry holds it: run only with options that its own schema accepted. */
export interface AnyCommand {
  readonly kind: 'command'
  readonly name: string
  readonly summary: string
  readonly group?: string
  readonly options: JSONSchema
  readonly arguments: readonly string[]
  readonly words: Readonly<Record<string, OptionWords | undefined>>
  readonly uses: readonly string[]
  run(options: JsonObject, services: object, output: CommandOutput): Promise<number>
}

/** Declares a command. */
export function defineCommand<const S, const U extends ServiceName = never>(command: CommandParts<S, U>): AnyCommand {
  return { kind: 'command', arguments: [], words: {}, uses: [], ...command } as AnyCommand
}
