import { printDiagnostic } from '../config/diagnostics.ts'
import type { Diagnostic } from '../config/diagnostics.ts'
import type { Registry } from '../config/registry.ts'
import { secretsOf, secretsOfStored } from '../config/secrets.ts'
import type { Source } from '../config/source.ts'
import { validator } from '../config/validate.ts'
import { makeCatalog } from '../live/catalog.ts'
import { loadConfiguration, withStored } from '../live/configuration.ts'
import { emptyGateway, serviceHost } from '../live/gateway-host.ts'
import type { GatewayHost } from '../live/gateway-host.ts'
import { OpenServices } from '../live/services.ts'
import { configureServices } from '../live/views.ts'
import { makeLog } from '../log.ts'
import type { AnyCommand } from '../spec/command.ts'
import type { JsonObject } from '../spec/json.ts'
import { Refusal } from '../spec/refusal.ts'
import type { AnyService } from '../spec/service.ts'
import { migrateService } from '../store/migrate-service.ts'
import { Secrets } from '../store/redaction.ts'
import { openStores } from '../store/stores.ts'
import { productVersion } from '../version.ts'
import { WorkerPool } from '../workers/pool.ts'
import { WrongUse } from './terminal.ts'
import type { CommonOptions, Terminal } from './terminal.ts'

/** Runs a command of a plugin, with the services it uses opened under the configuration. Answers the exit code. */
export async function runCommand(
  { name }: AnyCommand,
  given: JsonObject,
  { config, json }: CommonOptions,
  terminal: Terminal,
): Promise<number> {
  const { environment, folder: root } = terminal
  const files = await loadConfiguration({ file: config, root, environment })
  const { settings: declared, registry, source, diagnostics } = files
  const tell = (findings: readonly Diagnostic[]) => findings.forEach((one) => terminal.error(printDiagnostic(one)))
  const command = registry.commands.get(name)
  if (!declared || !command) {
    tell(diagnostics)
    return 1
  }
  const options = checkedOptions(command, given)
  const secrets = new Secrets()
  const log = makeLog({ level: 'error', secrets, text: terminal.interactive && !json })
  secretsOf(declared, registry, files.records).forEach((secret) => secrets.protect(secret))
  await using opened = new AsyncDisposableStack()
  const stores = opened.adopt(await openStores(declared, { root, environment, log, secrets }), (one) => one.close())
  const pool = opened.adopt(new WorkerPool({ onError: (error) => log.error({ err: error }) }), (one) => one.close())
  const { keyValue, jobs, sealing } = stores
  // As a gateway that starts now would.
  const stored = await stores.records.read()
  secretsOfStored(stored.records, registry).forEach((secret) => secrets.protect(secret))
  const { settings = declared, records, sections } = withStored(files, stored)
  const gateway: GatewayHost = {
    ...emptyGateway(productVersion()),
    log,
    scrub: (text) => secrets.scrub(text),
    keyValue,
    ...(jobs ? { jobs } : {}),
    seal: (bytes, context) => sealing.seal(bytes, context),
    unseal: (sealed, context) => sealing.unseal(sealed, context),
    work: (module, input, deadline) => pool.run(module, input, deadline),
  }
  const prepare = async (service: AnyService) => {
    await migrateService(stores.database, service, log)
    return serviceHost(gateway, stores, service)
  }
  const services = opened.adopt(new OpenServices({ log, prepare }), (one) => one.close())
  const views = await configureServices({
    registry: { ...registry, services: usedBy(command, registry) },
    settings,
    source,
    catalog: makeCatalog(settings, new Map()),
    records,
    sections,
    services,
    log,
  })
  opened.defer(() => views.close())
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

/** The services that a command uses, and those that they use. */
function usedBy({ uses }: AnyCommand, { services }: Registry): ReadonlyMap<string, AnyService> {
  const used = new Map<string, AnyService>()
  const add = (name: string) => {
    const service = services.get(name)
    if (service === undefined || used.has(name)) return
    used.set(name, service)
    service.uses.forEach(add)
  }
  uses.forEach(add)
  return used
}

/** What was given on the command line, which is all text, as the schema wants it; defaults filled in. */
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
