import { pagesOf } from '../actions/pages.ts'
import { clientCodec, upstreamCodec } from '../config/speaking.ts'
import { httpLimits } from '../config/limits.ts'
import type { Catalog } from '../spec/catalog.ts'
import { duration } from '../spec/duration.ts'
import type { Host, HostStatus } from '../spec/host.ts'
import type { RecordAccess } from '../spec/record-access.ts'
import type { Running } from '../spec/running.ts'
import type { Configuration } from '../records/configuration.ts'
import type { GatewayHost } from './gateway-host.ts'
import type { Lease } from '../services/keep.ts'
import { pipelineViews } from './running.ts'
import { viewsOf } from '../records/section-views.ts'
import { collectVotes } from './votes.ts'

/** What hosts are made of. */
export interface HostParts {
  readonly gateway: GatewayHost
  /** State of the configuration for `host.status`; default: this configuration, without an error. */
  readonly configStatus?: () => HostStatus['config']
  /** Problems of stored records, for `host.status`. */
  readonly recordsStatus?: () => readonly string[]
  /** Changes stored records; default: rejects. */
  readonly changeRecords?: RecordAccess['changeAll']
  /** The running configuration; default: none runs. */
  readonly running?: Pick<Running, 'state' | 'reload'>
}

const nothing = () => {
  throw new Error('no configuration is running')
}
const nothingRuns = { state: nothing, reload: nothing }

/** A function that makes the host of each stage and provider, with its pipeline or its own name. */
export function hostMaker(
  {
    gateway,
    kept,
    configStatus,
    recordsStatus,
    changeRecords,
    running = nothingRuns,
  }: HostParts & { readonly kept: Lease },
  configuration: Configuration,
  catalog: Catalog,
  dispatch: Host['dispatch'] = () => Promise.reject(new Error('no pipeline is served here')),
) {
  const { registry, version, pipelines } = configuration
  const beat = duration(catalog.settings.keepalive.websocket_ping)
  const sockets = { ...httpLimits.sockets, beat, ...gateway.sockets }
  const codecs = [...registry.codecs.values()]
  const changeAll = changeRecords ?? (() => Promise.reject(new Error('nothing is stored here')))
  const records: RecordAccess = {
    ...viewsOf(configuration),
    changeAll,
    change: async (change, by) => (await changeAll(() => [change], by))[0],
  }
  let views: Running['pipelines'] | undefined
  let document: ReturnType<Running['document']> | undefined
  const status: HostStatus = {
    get draining() {
      return gateway.status.draining
    },
    get starting() {
      return gateway.status.starting
    },
    get degraded() {
      return [...gateway.status.degraded, ...(recordsStatus?.() ?? [])]
    },
    get config() {
      return configStatus?.() ?? { version }
    },
  }
  return (pipeline: Host['pipeline']): Host => ({
    log: gateway.log.child({ pipeline: pipeline.name }),
    pipeline,
    catalog,
    records,
    providerTypes: [...registry.providers.values()],
    codecs,
    scrub: (text) => gateway.scrub(text),
    codec: (protocol) => clientCodec(registry.codecs, protocol),
    upstreamCodec: (protocol) => upstreamCodec(registry.codecs, protocol),
    routes: (protocol) =>
      pipelines
        .filter((one) => one.protocol === protocol)
        .flatMap(({ routes }) => routes.slice(0, 1).map(({ path }) => path)),
    byteBudget: gateway.byteBudget,
    sockets,
    keyValue: gateway.keyValue,
    ...(gateway.jobs ? { jobs: gateway.jobs } : {}),
    seal: (bytes, context) => gateway.seal(bytes, context),
    unseal: (sealed, context) => gateway.unseal(sealed, context),
    dispatch,
    work: (module, input, deadline, grace) => gateway.work(module, input, deadline, grace),
    warm: (piece, isFirst) => gateway.warmth?.add(piece, isFirst, kept),
    votes: (signals, ask, deadline) => collectVotes(gateway, registry, signals, ask, deadline),
    refused: async (refused) => gateway.services?.refused(registry.services.values(), refused),
    keep: kept.get,
    running: {
      ...running,
      get pipelines() {
        return (views ??= pipelineViews(configuration))
      },
      pages: () => pagesOf(registry),
      document: () =>
        (document ??= import('../openapi/document.ts').then(({ openApi }) =>
          Buffer.from(JSON.stringify(openApi(configuration, gateway.version))),
        )),
    },
    status,
    version: gateway.version,
  })
}
