import type { Catalog, OpenProvider } from '../spec/catalog.ts'
import type { JsonObject } from '../spec/json.ts'
import type { AnyProvider } from '../spec/provider.ts'
import type { Offer } from '../spec/open-provider.ts'
import { Refusal } from '../spec/error.ts'
import type { Host } from '../spec/host.ts'
import type { Diagnostic, Path } from '../config/diagnostics.ts'
import { wordsOfThrown } from '../config/plugin-error.ts'
import { hideSecrets } from '../records/hidden-findings.ts'
import type { RecordSet } from '../records/records.ts'
import type { LeftOut } from '../records/stored-records.ts'
import type { Registry } from '../config/registry.ts'
import type { Overridden } from '../config/placed-settings.ts'
import type { SectionSet } from '../records/sections.ts'
import { secretsOf } from '../records/secrets.ts'
import type { ProviderSettings, Settings } from '../config/settings.ts'
import { offersOf } from '../config/speaking.ts'
import { NotOpen } from '../services/closed-view.ts'
import { compilePipelines } from '../pipeline/compile.ts'
import type { Pipeline } from '../pipeline/nodes.ts'
import type { CompiledPipeline } from '../pipeline/run.ts'
import { makeCatalog } from './catalog.ts'
import { toldProvider, vendorOf } from '../telling/told-provider.ts'
import { hostMaker } from './host-maker.ts'
import type { HostParts } from './host-maker.ts'
import { dispatcher } from './dispatch.ts'
import type { Dispatching } from './dispatch.ts'
import type { Configuration } from '../records/configuration.ts'
import type { ConfigurationOptions } from './load-configuration.ts'
import type { GatewayHost } from './gateway-host.ts'
import { isLinkLocal } from '../config/reach.ts'
import { closeInTime } from '../services/services.ts'
import { configureServices } from './views.ts'
import type { ServiceViews } from './views.ts'

/** A configuration, checked, built and opened. Immutable. */
export interface Snapshot {
  /** Hash of every file it was loaded from. */
  readonly version: string
  /** The expected configuration file, if it does not exist. */
  readonly without?: string
  readonly settings: Settings
  readonly records: RecordSet
  readonly sections: SectionSet
  readonly overridden: readonly Overridden[]
  /** Revision of the stored records it contains. */
  readonly revision: number
  /** Stored records that contradict the rest. */
  readonly leftOut: readonly LeftOut[]
  readonly registry: Registry
  readonly catalog: Catalog
  /** The addresses that each provider noted when it was opened. */
  readonly noted: ReadonlyMap<string, readonly URL[]>
  readonly views: ServiceViews
  /** Pipelines that are served, or dispatched by a stage. */
  readonly pipelines: ReadonlyMap<string, CompiledPipeline>
  /** Every pipeline as written, for plans. */
  readonly written: readonly Pipeline[]
  /** Probable mistakes that do not prevent serving. */
  readonly warnings: readonly Diagnostic[]
  /** Lines that name the records that are off, with the reason. */
  readonly off: readonly string[]
  readonly files: readonly string[]
  readonly folders: readonly string[]
  /**
   * Closes its providers, then values that no other configuration uses, then its services, even if some fail. Failures
   * are logged.
   */
  close(): Promise<void>
}

/** What making a snapshot takes. */
export interface SnapshotOptions extends ConfigurationOptions, HostParts, Pick<Dispatching<Snapshot>, 'hold'> {
  /** Fails stages that give other slots than they declare; for tests. */
  readonly strict?: boolean
  /** Receives the closing of a configuration that was opened in vain; default: it is awaited. */
  readonly later?: (closed: Promise<void>) => void
}

/** A snapshot, or the findings that prevent one. */
export type Loading = { readonly snapshot: Snapshot } | { readonly diagnostics: readonly Diagnostic[] }

/** Builds and opens a loaded configuration, or returns all findings. */
export async function openSnapshot(configuration: Configuration, options: SnapshotOptions): Promise<Loading> {
  const { settings, registry, records, sections, diagnostics, source, pipelines: written } = configuration
  if (settings === undefined || diagnostics.length > 0) return { diagnostics }

  const problems: Diagnostic[] = []
  const opened = new Map<string, OpenProvider>()
  const noted = new Map<string, URL[]>()
  const linkLocal: Diagnostic[] = []
  const catalog = makeCatalog(settings, opened)
  const kept = options.gateway.keep.lease()
  let services: ServiceViews | undefined
  const close = async () => {
    options.gateway.warmth?.discard(kept)
    await closeProviders(opened, options.gateway)
    await closeInTime(
      () => kept.close(),
      (error) => options.gateway.log.error({ err: error }, 'a kept resource could not be closed'),
    )
    await services?.close()
  }
  try {
    options.gateway.protect(secretsOf(settings, registry, configuration.records))
    for (const path of options.gateway.fixed?.(settings) ?? [])
      problems.push(source.report(path, 'restart', `a change of ${path.join('.')} requires a restart`))
    await options.gateway.open?.(settings)
    const { services: open, log } = options.gateway
    services = await configureServices({ ...configuration, settings, catalog, services: open, log })
    problems.push(...services.diagnostics)
    const views = services
    let snapshot: Snapshot | undefined
    const dispatch = dispatcher(() => snapshot, options)
    const hostFor = hostMaker({ ...options, kept }, configuration, catalog, dispatch)
    const reportAt = (index: number, place: Path, code: string, message: string) => {
      const given = configuration.records.get('provider')?.[index]?.given
      return (given?.source ?? source).report([...(given?.path ?? []), ...place], code, message)
    }
    settings.providers.forEach((entry, index) => {
      try {
        opened.set(
          entry.name,
          openProvider(entry, registry, hostFor({ name: `providers/${entry.name}` }), views, noted),
        )
        if (entry.reach !== 'any' && noted.get(entry.name)?.some(isLinkLocal)) {
          const message = `the provider "${entry.name}" is not connected to at link-local addresses; only with allow_link_local, in the file`
          linkLocal.push({ ...reportAt(index, [], 'link-local', message), warning: true })
        }
      } catch (error) {
        if (error instanceof NotOpen && error.told) return
        const place = error instanceof Refusal ? error.path : []
        const message = `the provider "${entry.name}" cannot be opened: ${wordsOfThrown(error)}`
        problems.push(reportAt(index, place, 'open', message))
      }
    })
    const { compiled, diagnostics: unbuilt } = compilePipelines(written, {
      hostFor,
      viewsOf: (names) => views.of(names),
      settings: settings.server_config,
      strict: options.strict ?? false,
      version: configuration.version,
    })
    problems.push(...unbuilt)
    if (problems.length > 0) {
      if (options.later) options.later(close())
      else await close()
      return { diagnostics: hideSecrets(problems, configuration.sources, registry) }
    }
    const { version, without, warnings, off, files, folders } = configuration
    snapshot = {
      version,
      ...(without === undefined ? {} : { without }),
      settings,
      records,
      sections,
      overridden: configuration.overridden,
      revision: configuration.revision ?? 0,
      leftOut: configuration.leftOut ?? [],
      registry,
      catalog,
      noted,
      views,
      pipelines: compiled,
      written,
      warnings: [...warnings, ...linkLocal],
      off,
      files,
      folders,
      close,
    }
    return { snapshot }
  } catch (error) {
    await close()
    throw error
  }
}

function openProvider(
  { name, type, config, off, reach }: ProviderSettings,
  registry: Registry,
  given: Host,
  views: Pick<ServiceViews, 'of'>,
  noted: Map<string, URL[]>,
): OpenProvider {
  const plugin = registry.providers.get(type)
  if (plugin === undefined) throw new Error(`no provider type "${type}"`)
  const addresses: URL[] = []
  noted.set(name, addresses)
  const host = { ...given, bounds: { reach, note: (url: URL) => void addresses.push(url) } }
  if (off === undefined) {
    const callee = { name, type, offers: offersOf(plugin, config, registry.codecs), vendor: vendorOf(plugin, config) }
    return { ...callee, provider: toldProvider(plugin.open(config, host, views.of(plugin.uses)), callee) }
  }
  return { name, type, offers: offersWithout(plugin, config, registry, host), provider: {}, off }
}

/** The offers of a provider that is off, so that requests for its models get the reason in their error. */
function offersWithout(plugin: AnyProvider, config: JsonObject, { codecs }: Registry, { log }: Host): readonly Offer[] {
  try {
    return offersOf(plugin, config, codecs)
  } catch (error) {
    log.debug({ err: error }, 'the offers of a provider that is off depend on what is unset')
    return []
  }
}

async function closeProviders(opened: ReadonlyMap<string, OpenProvider>, { log }: GatewayHost): Promise<void> {
  await Promise.all(
    [...opened.values()].map(({ name, provider }) =>
      closeInTime(
        () => provider.close?.(),
        (error) => log.error({ err: error, provider: name }, 'a provider could not be closed'),
      ),
    ),
  )
}
