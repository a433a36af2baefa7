import { clientCodec, upstreamCodec } from '../config/speaking.ts'
import type { Catalog } from '../spec/catalog.ts'
import type { Host, HostStatus } from '../spec/stage.ts'
import type { Configuration } from './configuration.ts'
import type { Lease } from './keep.ts'
import { viewsOf } from './section-views.ts'
import type { SnapshotOptions } from './snapshot.ts'
import { collectVotes } from './votes.ts'

/** What hosts are made with. */
type HostOptions = Pick<SnapshotOptions, 'gateway' | 'configStatus' | 'recordsStatus' | 'changeRecord'> & {
  readonly kept: Lease
}

/** What makes the hosts of stages and providers, each with its pipeline or its own name. */
export function hostMaker(
  { gateway, kept, configStatus, recordsStatus, changeRecord }: HostOptions,
  configuration: Configuration,
  catalog: Catalog,
  dispatch: Host['dispatch'] = () => Promise.reject(new Error('no pipeline is served here')),
) {
  const { registry, version, pipelines } = configuration
  const codecs = [...registry.codecs.values()]
  const change = changeRecord ?? (() => Promise.reject(new Error('nothing is stored here')))
  const status: HostStatus = {
    get draining() {
      return gateway.status.draining
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
    records: { ...viewsOf(configuration), change },
    codecs,
    scrub: (text) => gateway.scrub(text),
    codec: (protocol) => clientCodec(registry.codecs, protocol),
    upstreamCodec: (protocol) => upstreamCodec(registry.codecs, protocol),
    routes: (protocol) =>
      pipelines
        .filter((one) => one.protocol === protocol)
        .flatMap(({ routes }) => routes.slice(0, 1).map(({ path }) => path)),
    byteBudget: gateway.byteBudget,
    keyValue: gateway.keyValue,
    ...(gateway.jobs ? { jobs: gateway.jobs } : {}),
    seal: (bytes, context) => gateway.seal(bytes, context),
    unseal: (sealed, context) => gateway.unseal(sealed, context),
    dispatch,
    work: (module, input, deadline) => gateway.work(module, input, deadline),
    warm: (piece) => gateway.warm?.(piece),
    votes: (signals, ask, deadline) => collectVotes(gateway, registry, signals, ask, deadline),
    keep: kept.get,
    status,
    version: gateway.version,
  })
}
