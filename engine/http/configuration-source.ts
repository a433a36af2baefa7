import type { Registry } from '../config/registry.ts'
import type { Settings } from '../config/settings.ts'
import type { CompiledPipeline } from '../pipeline/run.ts'

/** What a server needs of a configuration. Each is an object of its own, by which things made of it are kept. */
export interface ServedConfiguration {
  readonly settings: Settings
  readonly registry: Registry
  readonly pipelines: ReadonlyMap<string, CompiledPipeline>
}

/** Where a server finds the running configuration. */
export interface ConfigurationSource {
  readonly current: ServedConfiguration
  /** The running configuration, for one request from start to end: it is not closed before its `release`. */
  acquire(): ServedConfiguration
  release(configuration: ServedConfiguration): void
  /** Redacts secrets in a text. */
  readonly scrub: (text: string) => string
  /** Receives the address of a peer that is no trusted proxy, and sends `x-forwarded-for`. */
  noteUntrusted(peer: string): void
}
