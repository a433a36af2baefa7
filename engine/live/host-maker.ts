import { clientCodec, upstreamCodec } from '../config/speaking.ts'
import type { Catalog } from '../spec/catalog.ts'
import type { Host, HostStatus } from '../spec/stage.ts'
import type { Keys } from '../spec/store.ts'
import type { Configuration } from './configuration.ts'
import type { Lease } from './keep.ts'
import { viewsOf } from './section-views.ts'
import type { SnapshotOptions } from './snapshot.ts'
import { collectVotes } from './votes.ts'

/** What hosts are made with. */
type HostOptions = Pick<SnapshotOptions, 'house' | 'configStatus' | 'recordsStatus' | 'changeRecord'> & {
  readonly kept: Lease
}

/** What makes the hosts of stages and providers, each with its pipeline or its own name. */
export function hostMaker(
  { house, kept, configStatus, recordsStatus, changeRecord }: HostOptions,
  configuration: Configuration,
  catalog: Catalog,
  keys: Keys,
  dispatch: Host['dispatch'] = () => Promise.reject(new Error('no pipeline is served here')),
) {
  const { registry, version, pipelines } = configuration
  const codecs = [...registry.codecs.values()]
  const change = changeRecord ?? (() => Promise.reject(new Error('nothing is stored here')))
  const status: HostStatus = {
    get draining() {
      return house.status.draining
    },
    get degraded() {
      return [...house.status.degraded, ...(recordsStatus?.() ?? [])]
    },
    get config() {
      return configStatus?.() ?? { version }
    },
  }
  return (pipeline: Host['pipeline']): Host => ({
    log: house.log.child({ pipeline: pipeline.name }),
    pipeline,
    catalog,
    keys,
    records: { ...viewsOf(configuration), change },
    codecs,
    scrub: (text) => house.scrub(text),
    codec: (protocol) => clientCodec(registry.codecs, protocol),
    upstreamCodec: (protocol) => upstreamCodec(registry.codecs, protocol),
    routes: (protocol) =>
      pipelines
        .filter((one) => one.protocol === protocol)
        .flatMap(({ routes }) => routes.slice(0, 1).map(({ path }) => path)),
    inHand: house.inHand,
    keyValue: house.keyValue,
    ...(house.jobs ? { jobs: house.jobs } : {}),
    seal: (bytes, context) => house.seal(bytes, context),
    unseal: (sealed, context) => house.unseal(sealed, context),
    dispatch,
    work: (module, input, deadline) => house.work(module, input, deadline),
    warm: (piece) => house.warm?.(piece),
    votes: (signals, ask, deadline) => collectVotes(house, registry, signals, ask, deadline),
    keep: kept.get,
    status,
    version: house.version,
  })
}
