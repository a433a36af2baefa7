import type { AnyAction } from '../spec/action.ts'
import type { EitherCodec } from '../spec/codec.ts'
import type { AnyCommand } from '../spec/command.ts'
import type { DeclaredError } from '../spec/error-table.ts'
import type { AnyGuard } from '../spec/guard.ts'
import type { Plugin } from '../spec/plugin.ts'
import type { AnyProvider } from '../spec/provider.ts'
import type { AnyRecord } from '../spec/record.ts'
import type { AnyService } from '../spec/service.ts'
import type { AnySignal } from '../spec/signal.ts'
import type { AnySlot } from '../spec/slot.ts'
import type { AnyStage } from '../spec/stage.ts'

/** Every component of a configuration, by its name in YAML. */
export interface Registry {
  readonly plugins: ReadonlyMap<string, Plugin>
  readonly stages: ReadonlyMap<string, AnyStage>
  readonly actions: ReadonlyMap<string, AnyAction>
  /** Error codes of plugins, each with the plugin that declares it. */
  readonly errors: ReadonlyMap<string, DeclaredError & { readonly from: string }>
  /** By protocol. */
  readonly codecs: ReadonlyMap<string, EitherCodec>
  /** By type. */
  readonly providers: ReadonlyMap<string, AnyProvider>
  readonly signals: ReadonlyMap<string, AnySignal>
  /** By kind. */
  readonly guards: ReadonlyMap<string, AnyGuard>
  /** Slots of the engine and of plugins. */
  readonly slots: ReadonlyMap<string, AnySlot>
  readonly services: ReadonlyMap<string, AnyService>
  /** The file or package that each service comes from, by the service's name. */
  readonly origins: ReadonlyMap<string, string>
  /** By name. */
  readonly commands: ReadonlyMap<string, AnyCommand>
  /** Types of records. */
  readonly records: ReadonlyMap<string, AnyRecord>
  /** The stages, actions, providers and services that others may rely on. */
  readonly stable: ReadonlySet<object>
  /** Whether a plugin could not be loaded; an unknown name may then belong to it. */
  readonly incomplete: boolean
}

/** A component that passed its checks, by kind. */
export type Component =
  | { readonly kind: 'plugin'; readonly value: Plugin }
  | { readonly kind: 'stage'; readonly value: AnyStage }
  | { readonly kind: 'action'; readonly value: AnyAction }
  | { readonly kind: 'codec'; readonly value: EitherCodec }
  | { readonly kind: 'provider'; readonly value: AnyProvider }
  | { readonly kind: 'signal'; readonly value: AnySignal }
  | { readonly kind: 'guard'; readonly value: AnyGuard }
  | { readonly kind: 'slot'; readonly value: AnySlot }
  | { readonly kind: 'service'; readonly value: AnyService }
  | { readonly kind: 'command'; readonly value: AnyCommand }
  | { readonly kind: 'record'; readonly value: AnyRecord }
