import { printDiagnostic } from '../config/diagnostics.ts'
import type { Diagnostic } from '../config/diagnostics.ts'
import { secretsOf } from '../config/secrets.ts'
import type { Source } from '../config/source.ts'
import { validator } from '../config/validate.ts'
import { loadConfiguration } from '../live/configuration.ts'
import { makeLog } from '../log.ts'
import type { AnyCommand } from '../spec/command.ts'
import type { JsonObject } from '../spec/json.ts'
import { Refusal } from '../spec/refusal.ts'
import { Secrets } from '../store/redaction.ts'
import { openOwnServices } from './own-services.ts'
import { WrongUse } from './terminal.ts'
import type { CommonOptions, Terminal } from './terminal.ts'

/** Runs a plugin's command, with its services opened for the configuration. Returns the exit code. */
export async function runCommand(
  { name }: AnyCommand,
  given: JsonObject,
  { config, json }: CommonOptions,
  terminal: Terminal,
): Promise<number> {
  const { environment, folder: root } = terminal
  const configuration = await loadConfiguration({ file: config, root, environment })
  const { settings, registry, diagnostics } = configuration
  const tell = (findings: readonly Diagnostic[]) => findings.forEach((one) => terminal.error(printDiagnostic(one)))
  const command = registry.commands.get(name)
  if (!settings || !command) {
    tell(diagnostics)
    return 1
  }
  const options = checkedOptions(command, given)
  const secrets = new Secrets()
  const log = makeLog({ level: 'error', secrets, text: terminal.interactive && !json })
  secretsOf(settings, registry, configuration.records).forEach((secret) => secrets.protect(secret))
  await using views = await openOwnServices(command.uses, { ...configuration, settings }, { ...terminal, log, secrets })
  if (views.diagnostics.length > 0) {
    tell(views.diagnostics)
    return 1
  }
  views.live()
  try {
    return await command.run(options, views.of(command.uses), { ...terminal, json })
  } catch (error) {
    throw error instanceof Refusal ? new WrongUse(error.message) : error
  }
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
