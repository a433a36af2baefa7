import type { AnyAction } from './action.ts'
import type { EitherCodec } from './codec.ts'
import type { Stability } from './config.ts'
import type { DeclaredError } from './error-table.ts'
import type { AnyCommand } from './command.ts'
import type { AnyGuard } from './guard.ts'
import type { AnyProvider } from './provider.ts'
import type { AnyRecord } from './record.ts'
import type { AnyService } from './service.ts'
import type { AnySignal } from './signal.ts'
import type { AnySlot } from './slot.ts'
import type { AnyStage } from './stage.ts'

/** Version of what `sluice` and `sluice/kit` promise to plugins: a change that breaks them makes it one higher. */
export const contract = 1

/** A bundle of components under one name: the default export of a plugin file or package. */
export interface Plugin {
  readonly kind: 'plugin'
  readonly name: string
  readonly summary: string
  /** The `contract` that it was written for. One higher than that of the engine is refused. */
  readonly contract?: number
  /** Of its stages, actions, providers and services that say nothing else. */
  readonly stability?: Stability
  readonly stages?: readonly AnyStage[]
  readonly actions?: readonly AnyAction[]
  /** The actions of each type of records that says `route`. An action of the same route replaces one. */
  readonly actionsOf?: (record: AnyRecord) => readonly AnyAction[]
  /** Its error codes, made by `defineErrors`. */
  readonly errors?: Readonly<Record<string, DeclaredError>>
  readonly codecs?: readonly EitherCodec[]
  readonly providers?: readonly AnyProvider[]
  readonly signals?: readonly AnySignal[]
  readonly guards?: readonly AnyGuard[]
  readonly slots?: readonly AnySlot[]
  readonly services?: readonly AnyService[]
  readonly commands?: readonly AnyCommand[]
  readonly records?: readonly AnyRecord[]
}

/** Declares a plugin. */
export function definePlugin(plugin: Omit<Plugin, 'kind'>): Plugin {
  return { kind: 'plugin', ...plugin }
}
