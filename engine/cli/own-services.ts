import type { Logger } from 'pino'
import type { Environment } from '../config/interpolate.ts'
import type { Registry } from '../config/registry.ts'
import { secretsOfStored } from '../records/secrets.ts'
import type { Settings } from '../config/settings.ts'
import type { AnyCommand, CommandOutput } from '../spec/command.ts'
import { makeCatalog } from '../live/catalog.ts'
import { withStored } from '../live/load-configuration.ts'
import type { Configuration } from '../records/configuration.ts'
import { emptyGateway, serviceHost } from '../live/gateway-host.ts'
import type { GatewayHost } from '../live/gateway-host.ts'
import { OpenServices } from '../services/services.ts'
import { configureServices } from '../live/views.ts'
import type { ServiceViews } from '../live/views.ts'
import type { AnyService } from '../spec/service.ts'
import { migrateService } from '../store/migrate-service.ts'
import type { Secrets } from '../secrets/redaction.ts'
import { openStores } from '../store/stores.ts'
import type { Stores } from '../store/stores.ts'
import { productVersion } from '../version.ts'
import { needed, openPipelines } from './own-pipelines.ts'
import { WorkerPool } from '../workers/pool.ts'

interface OwnServices {
  readonly environment: Environment
  /** The folder to which relative paths refer. */
  readonly folder: string
  readonly log: Logger
  readonly secrets: Secrets
}

/** Services that a command has opened, their stores, and the pipelines that it runs. */
export type OpenOwn = ServiceViews & AsyncDisposable & Pick<CommandOutput, 'dispatch'> & { readonly stores: Stores }

/** Opens services in a process that serves nothing, next to those of running gateways, until it is disposed of. */
export async function openOwnServices(
  { uses, pipelines = [] }: Pick<AnyCommand, 'uses'> & Partial<Pick<AnyCommand, 'pipelines'>>,
  files: Configuration & { readonly settings: Settings },
  { environment, folder: root, log, secrets }: OwnServices,
): Promise<OpenOwn> {
  const { settings: declared, registry } = files
  await using opened = new AsyncDisposableStack()
  const stores = opened.adopt(await openStores(declared, { root, environment, log, secrets }), (one) => one.close())
  const pool = opened.adopt(new WorkerPool({ onError: (error) => log.error({ err: error }) }), (one) => one.close())
  const { keyValue, jobs, sealing } = stores
  // Stored records count, as for a gateway that starts now.
  const stored = await stores.records.read()
  secretsOfStored(stored.records, registry).forEach((secret) => secrets.protect(secret))
  const configuration = withStored(files, stored)
  const { settings = declared } = configuration
  const gateway: GatewayHost = {
    ...emptyGateway(productVersion()),
    log,
    scrub: (text) => secrets.scrub(text),
    keyValue,
    ...(jobs ? { jobs } : {}),
    seal: (bytes, context) => sealing.seal(bytes, context),
    unseal: (sealed, context) => sealing.unseal(sealed, context),
    deriveKey: (info) => sealing.deriveKey(info),
    masterSecret: sealing.from,
    work: (module, input, deadline, grace) => pool.run(module, input, deadline, grace),
  }
  const prepare = async (service: AnyService) => {
    await migrateService(stores.database, service, log)
    return serviceHost(gateway, stores, service)
  }
  const services = opened.adopt(new OpenServices({ log, prepare }), (one) => one.close())
  const whole = { ...configuration, settings }
  const own = needed(whole, pipelines)
  const part = {
    ...whole,
    pipelines: own.pipelines,
    registry: { ...registry, services: usedBy([...uses, ...own.uses], registry) },
  }
  const views =
    pipelines.length > 0
      ? await openPipelines(part, { file: '', root, environment, gateway: { ...gateway, services } })
      : {
          ...(await configureServices({ ...part, catalog: makeCatalog(settings, new Map()), services, log })),
          dispatch: nothingRuns,
        }
  opened.defer(() => views.close())
  const closing = opened.move()
  return { ...views, stores, [Symbol.asyncDispose]: () => closing.disposeAsync() }
}

/** In place of running pipelines, for a command that names none. */
export const nothingRuns: CommandOutput['dispatch'] = () => Promise.reject(new Error('the command names no pipelines'))

/** These services, and all services they use. */
function usedBy(names: readonly string[], { services }: Registry): ReadonlyMap<string, AnyService> {
  const used = new Map<string, AnyService>()
  const add = (name: string) => {
    const service = services.get(name)
    if (service === undefined || used.has(name)) return
    used.set(name, service)
    service.uses.forEach(add)
  }
  names.forEach(add)
  return used
}
