import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { printDiagnostic } from '../config/diagnostics.ts'
import type { Diagnostic } from '../config/diagnostics.ts'
import type { Registry } from '../config/registry.ts'
import { defaultConfigFile } from '../config/shipped.ts'
import { secretsOf } from '../records/secrets.ts'
import { soundPart } from './sound-part.ts'
import type { Source } from '../config/source.ts'
import { validator } from '../config/validate.ts'
import { loadConfiguration } from '../live/load-configuration.ts'
import { refusedByService } from '../live/views.ts'
import { makeLog } from '../telling/log.ts'
import type { AnyCommand, CommandOutput } from '../spec/command.ts'
import type { JsonObject } from '../spec/json.ts'
import { Refusal } from '../spec/error.ts'
import { Secrets } from '../secrets/redaction.ts'
import { nothingRuns, openOwnServices } from './own-services.ts'
import type { OpenOwn } from './own-services.ts'
import { WrongUse } from './terminal.ts'
import type { CommonOptions, Terminal } from './terminal.ts'

/** Runs a plugin's command, with its services opened for the configuration. Returns the exit code. */
export function runCommand(
  declared: AnyCommand,
  given: JsonObject,
  options: CommonOptions,
  terminal: Terminal,
): Promise<number> {
  const { name } = declared
  const find = ({ commands }: Registry) => {
    const command = commands.get(name)
    return command && { command, uses: command.uses, pipelines: command.pipelines }
  }
  const output = { ...terminal, json: options.json, inFolder: opener(terminal) }
  const run = async (command: AnyCommand, services: object, dispatch: CommandOutput['dispatch']) => {
    const checked = checkedOptions(command, given)
    try {
      return await command.run(checked, services, { ...output, dispatch })
    } catch (error) {
      throw error instanceof Refusal ? new WrongUse(error.message) : error
    }
  }
  if (declared.uses.length + declared.pipelines.length === 0) return run(declared, {}, nothingRuns)
  return withServices(find, { ...options, partly: true }, terminal, ({ command }, views) =>
    run(command, views.of(command.uses), views.dispatch),
  )
}

/** Opens services for the configuration of another folder, with the variables of its `.env`. */
function opener(terminal: Terminal): CommandOutput['inFolder'] {
  return async (folder, uses, work, variables = {}) => {
    const text = await readFile(join(folder, '.env'), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return ''
      throw error
    })
    const environment = { ...parseEnv(text), ...terminal.environment, ...variables }
    const findings: string[] = []
    const there = { ...terminal, environment, folder, error: (line: string) => void findings.push(line) }
    const options = { config: defaultConfigFile, json: true }
    let done: { readonly result: Awaited<ReturnType<typeof work>> } | undefined
    await withServices(
      () => ({ uses, pipelines: [] }),
      options,
      there,
      async (_found, views) => {
        done = { result: await work(views.of(uses) as Parameters<typeof work>[0]) }
        return 0
      },
    )
    if (done === undefined) throw new Refusal(findings.join('\n'))
    return done.result
  }
}

/**
 * Opens services for a command and runs it. Returns its exit code, or 1 after printing what is wrong with the
 * configuration.
 * @param find finds in the registry what runs, and the services that it uses; undefined: it is not there
 * @param options with `partly`, a command that runs no pipeline needs only the sound part of the configuration
 */
export async function withServices<T extends Parameters<typeof openOwnServices>[0]>(
  find: (registry: Registry) => T | undefined,
  { config, json, partly = false }: CommonOptions & { readonly partly?: boolean },
  terminal: Terminal,
  run: (found: T, services: OpenOwn) => Promise<number>,
): Promise<number> {
  const { environment, folder: root } = terminal
  const loaded = await loadConfiguration({ file: config, root, environment })
  const { registry, diagnostics } = loaded
  const tell = (findings: readonly Diagnostic[]) => findings.forEach((one) => terminal.error(printDiagnostic(one)))
  const found = find(registry)
  const isPart = partly && loaded.settings === undefined && (found?.pipelines ?? []).length === 0
  const configuration = isPart
    ? { ...loaded, ...soundPart(loaded.source, registry, environment, loaded.vendors) }
    : loaded
  const { settings } = configuration
  if (!settings || !found) {
    tell(diagnostics)
    return 1
  }
  if (isPart) {
    tell(diagnostics)
    terminal.error('sluice: the command goes on without the parts of the configuration that these findings are about')
  }
  const secrets = new Secrets()
  const log = makeLog({ level: 'error', secrets, text: terminal.interactive && !json })
  secretsOf(settings, registry, configuration.records).forEach((secret) => secrets.protect(secret))
  await using views = await openOwnServices(found, { ...configuration, settings }, { ...terminal, log, secrets })
  tell(views.diagnostics)
  if (views.diagnostics.some(({ code }) => !partly || refusedByService.has(code))) return 1
  views.live()
  return await run(found, views)
}

/** Converts the texts of the command line according to the schema, and fills in defaults. */
function checkedOptions({ name, options }: AnyCommand, given: JsonObject): JsonObject {
  const report: Source['report'] = (path, code, message) => {
    const place = path.length === 0 ? '' : `--${path.join('.').replaceAll('_', '-')} `
    return { file: name, line: 1, column: 1, code, message: `${place}${message}` }
  }
  const source: Source = { file: name, value: given, missing: [], interpolated: () => true, report }
  const { value, diagnostics } = validator(options as object)(source, [], given)
  if (diagnostics.length > 0) throw new WrongUse(diagnostics.map(({ message }) => message).join('\n'))
  return value as JsonObject
}
