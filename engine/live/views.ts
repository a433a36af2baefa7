import type { Logger } from 'pino'
import { wordsOfThrown } from '../config/plugin-error.ts'
import { typedRecords } from '../records/records.ts'
import type { CheckedRecord, RecordSet } from '../records/records.ts'
import { inOrder } from '../config/uses.ts'
import type { Registry } from '../config/registry.ts'
import { settingsOf } from '../records/sections.ts'
import type { SectionSet } from '../records/sections.ts'
import type { Diagnostic } from '../config/diagnostics.ts'
import type { Settings } from '../config/settings.ts'
import type { Source } from '../config/source.ts'
import type { Catalog } from '../spec/catalog.ts'
import { asGatewayError, Refusal } from '../spec/error.ts'
import { isObject } from '../spec/json.ts'
import type { JsonObject } from '../spec/json.ts'
import { closedView } from '../services/closed-view.ts'
import type { RecordName, Records } from '../spec/record.ts'
import type { AnyService, Configured, ServiceConfiguration } from '../spec/service.ts'
import { MigrationError } from '../store/migrate-service.ts'
import { greetingOf } from '../services/greetings.ts'
import type { SafeGreeting } from '../services/greetings.ts'
import { heldRecords } from '../records/held-records.ts'
import { closeInTime, inTime } from '../services/services.ts'
import type { OpenServices } from '../services/services.ts'

/** What services are configured with. */
export interface ViewOptions {
  readonly registry: Registry
  readonly settings: Settings
  readonly source: Source
  readonly catalog: Catalog
  readonly records: RecordSet
  readonly sections: SectionSet
  /** Version of the configuration, and of its files. */
  readonly version: string
  readonly fileVersion: string
  /** Absent: nothing is opened, and most views are placeholders that throw when used. */
  readonly services: OpenServices | undefined
  readonly log: Logger
}

/** The views of one configuration. */
export interface ServiceViews {
  /** The views of some services, by service name. */
  of(names: readonly string[] | undefined): Readonly<Record<string, unknown>>
  /** Findings of services that refused the configuration. */
  readonly diagnostics: readonly Diagnostic[]
  /** The configuration went live. Never throws. */
  live(): void
  /** The greetings of services at the start of the gateway. Never rejects. */
  greet(): Promise<readonly SafeGreeting[]>
  /** Closes the views, last first, then the services that no other configuration uses. Never rejects. */
  close(): Promise<void>
}

/** The codes of findings after which a service has no view. One that refuses a record has its view. */
export const refusedByService: ReadonlySet<string> = new Set(['service', 'unavailable'])

/** Configures every service of a configuration, in the order of `uses`, even if some refuse it. */
export async function configureServices(options: ViewOptions): Promise<ServiceViews> {
  const { registry, settings, catalog, version, fileVersion, services, log } = options
  const records = typedRecords(options.records)
  const views = new Map<string, unknown>()
  const taken: AnyService[] = []
  const configured: { readonly service: AnyService; readonly view: Configured<unknown> }[] = []
  const diagnostics: Diagnostic[] = []
  const reject: ServiceConfiguration['reject'] = (record, steps, code, message) => {
    const { source, path } = checkedRecord(options.records, record).given
    diagnostics.push(source.report([...path, ...steps], code, message))
  }
  const isDeclared: ServiceConfiguration['isDeclared'] = (what) =>
    typeof what === 'string'
      ? options.sections.get(what)?.from === 'file'
      : checkedRecord(options.records, what).given.stored === undefined
  if (services === undefined) return { ...nothing, of: unopenedViews(registry, settings) }
  const configuration = {
    version,
    fileVersion,
    listen: settings.listen,
    ...(settings.updates ? { updates: settings.updates.url } : {}),
    catalog,
    signals: [...registry.signals.values()],
    guards: [...registry.guards.values()],
    viewsOf: (names?: readonly string[]) => of(names),
    records,
    isDeclared,
    reject,
    ...heldRecords(registry, options.records, services),
  }
  const of: ServiceViews['of'] = (names = []) =>
    Object.fromEntries(names.map((name) => [name, views.has(name) ? views.get(name) : closedView(name, true)]))
  const configure = async (service: AnyService, own: JsonObject, from: OpenServices) => {
    const open = await from.take(service)
    taken.push(service)
    const made = open.configure(own, of(service.uses), configuration)
    const view = await inTime(made, 'it was not configured', (late) => closeView(service, late, log))
    // The types guarantee a view, but a plugin may be written in JavaScript.
    if (!isObject(view) || !('view' in view)) throw new Error('its "configure" gives no view')
    configured.push({ service, view })
    views.set(service.name, view.view)
  }
  for (const service of inOrder(registry.services)) {
    const own = settingsOf(service, settings.server_config)
    // A service it uses has failed, which is already reported.
    if (!service.uses.every((name) => views.has(name))) continue
    await configure(service, own, services).catch((error: unknown) =>
      diagnostics.push(finding(service, error, options)),
    )
  }
  return {
    of,
    diagnostics,
    live() {
      for (const { service, view } of configured)
        try {
          view.live?.()
        } catch (error) {
          log.error({ err: error, service: service.name }, 'a service failed when its configuration went live')
        }
    },
    async greet() {
      const greeting = configured.filter(({ service }) => 'greet' in service)
      const greetings = await Promise.all(greeting.map(({ service, view }) => greetingOf(service, view.view, log)))
      return greetings.filter((one) => one !== undefined)
    },
    async close() {
      for (const { service, view } of configured.toReversed()) await closeView(service, view, log)
      for (const service of taken.toReversed()) await services.release(service)
    },
  }
}

/** Views while nothing is opened: those of services without `open` are their settings, all others are placeholders. */
export function unopenedViews({ services }: Registry, { server_config: sections }: Settings): ServiceViews['of'] {
  const viewOf = (name: string) => {
    const service = services.get(name)
    return service && !service.open ? settingsOf(service, sections) : closedView(name, false)
  }
  return (names = []) => Object.fromEntries(names.map((name) => [name, viewOf(name)]))
}

/** The views of a configuration in which nothing is open. */
export const nothing: ServiceViews = {
  of: () => ({}),
  diagnostics: [],
  live: () => undefined,
  greet: () => Promise.resolve([]),
  close: () => Promise.resolve(),
}

function checkedRecord(records: RecordSet, record: Records[RecordName]): CheckedRecord {
  const found = [...records.values()].flat().find(({ value }) => value === record)
  if (found === undefined) throw new Error('a service asks about what is no record of its configuration')
  return found
}

function finding(
  { name, section }: AnyService,
  error: unknown,
  { source: file, sections, registry }: ViewOptions,
): Diagnostic {
  const own = ['server_config', section]
  // Any other error is not caused by stored settings, and may be temporary.
  if (!(error instanceof Refusal)) {
    const origin = error instanceof MigrationError ? ` of ${registry.origins.get(name)}` : ''
    const { code } = asGatewayError(error instanceof MigrationError ? error.cause : error)
    return file.report(
      own,
      code === 'store_unavailable' ? 'unavailable' : 'service',
      `the service "${name}"${origin} cannot be opened: ${wordsOfThrown(error)}`,
    )
  }
  const { source, path } = sections.get(section) ?? { source: file, path: own }
  return source.report([...path, ...error.path], 'service', error.message)
}

function closeView({ name }: AnyService, view: Configured<unknown>, log: Logger): Promise<void> {
  return closeInTime(
    () => view.close?.(),
    (error) => log.error({ err: error, service: name }, 'the view of a service could not be closed'),
  )
}
