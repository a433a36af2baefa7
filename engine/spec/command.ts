import type { JSONSchema } from 'json-schema-to-ts'
import type { Dispatched } from './dispatch.ts'
import type { JsonObject } from './json.ts'
import type { ConfigOf } from './config.ts'
import type { ServiceName, Views } from './service.ts'
import type { Slots } from './slots.ts'

/** The output of a command. */
export interface CommandOutput {
  /** Whether results should be printed as JSON. */
  readonly json: boolean
  /** Prints results to standard output. */
  readonly out: (text: string) => void
  /** Prints messages to standard error. */
  readonly error: (text: string) => void
  /** Styles a text if standard output is a terminal. */
  readonly style: (format: Style, text: string) => string
  /** The folder to which relative paths refer. */
  readonly folder: string
  /** The environment variables. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /**
   * Opens services for another configuration, that of a folder, and runs `work` with their views. Rejects with a
   * `Refusal` for a configuration that cannot be used.
   * @param variables take precedence over the environment, and that over the `.env` of the folder
   */
  readonly inFolder: <U extends ServiceName, R>(
    folder: string,
    uses: readonly U[],
    work: (services: Views<U>) => Promise<R>,
    variables?: Readonly<Record<string, string>>,
  ) => Promise<R>
  /** Runs one of the command's `pipelines`, like `host.dispatch`. Rejects for a command that has none. */
  readonly dispatch: (pipeline: string, given: Readonly<Partial<Slots>>) => Promise<Dispatched>
  /** Aborted when standard output is closed, so that a command that runs indefinitely can stop. */
  readonly unread?: AbortSignal
}

export type Style = 'bold' | 'dim' | 'green' | 'red'

/** How an option is written, if it differs from the default. */
export interface OptionWords {
  /** The letter of its short form: `f` for `-f`. */
  readonly short?: string
  /** Name of its value in the help; default: the name of the option. */
  readonly value?: string
}

/** A command of the command line: `sluice <name>`. */
export interface CommandParts<S, U extends ServiceName> {
  /** Its name, or two words for a command of a group: `logs`, `key create`. */
  readonly name: string
  readonly summary: string
  /** Description of its group, if its name has two words; the first one declared counts. */
  readonly group?: string
  /**
   * JSON Schema of the options; every property has a description. A property is an option of the same name
   * (`--max-rows` for `max_rows`): a boolean is a flag, a list takes several values.
   */
  readonly options: S
  /** Properties given by position. */
  readonly arguments?: readonly (keyof ConfigOf<S> & string)[]
  readonly words?: { readonly [O in keyof ConfigOf<S> & string]?: OptionWords }
  /**
   * Services whose views it gets. This process opens instances of its own, next to those of running gateways. A command
   * without services and pipelines reads no configuration and opens no database.
   */
  readonly uses?: readonly U[]
  /** Pipelines that it runs. They are built in this process, with the services that they use. */
  readonly pipelines?: readonly string[]
  /** Returns the exit code: 0 for success, 1 for a failure. A `Refusal` means wrong usage: one line, exit code 2. */
  run(options: ConfigOf<S>, services: Views<U>, output: CommandOutput): Promise<number>
}

/** A declared command in a registry: run only with options that its schema accepted. */
export interface AnyCommand {
  readonly kind: 'command'
  readonly name: string
  readonly summary: string
  readonly group?: string
  readonly options: JSONSchema
  readonly arguments: readonly string[]
  readonly words: Readonly<Record<string, OptionWords | undefined>>
  readonly uses: readonly string[]
  readonly pipelines: readonly string[]
  run(options: JsonObject, services: object, output: CommandOutput): Promise<number>
}

/** Declares a command. */
export function defineCommand<const S, const U extends ServiceName = never>(command: CommandParts<S, U>): AnyCommand {
  return { kind: 'command', arguments: [], words: {}, uses: [], pipelines: [], ...command } as AnyCommand
}
