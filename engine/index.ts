// The entry point `sluice`: the contract between the engine and its plugins. A change here breaks plugins.
export type { Json, JsonObject } from './spec/json.ts'
export type * from './spec/config.ts'
export type * from './spec/source.ts'
export type * from './spec/usage.ts'
export type * from './spec/part.ts'
export type * from './spec/search.ts'
export type * from './spec/tool.ts'
export type * from './spec/generate.ts'
export type * from './spec/decide.ts'
export type * from './spec/operation.ts'
export type {
  ErrorCode,
  ErrorDialect,
  ErrorOptions,
  ErrorParser,
  ErrorRow,
  ErrorPrinter,
  Facts,
  Failure,
  Mistake,
  Retry,
} from './spec/error.ts'
export type * from './spec/codec.ts'
export type * from './spec/relaying.ts'
export type * from './spec/translation.ts'
export type { Candidate, Catalog, ModelRecord, OpenProvider, Pricing, ServerSettings } from './spec/catalog.ts'
export type * from './spec/leg.ts'
export type * from './spec/open-provider.ts'
export type * from './spec/provider.ts'
export type * from './spec/slots.ts'
export type * from './spec/slot.ts'
export type * from './spec/scope.ts'
export type * from './spec/host.ts'
export type * from './spec/stage.ts'
export type * from './spec/dispatch.ts'
export type * from './spec/telling.ts'
export type * from './spec/trace.ts'
export type * from './spec/signal.ts'
export type * from './spec/command.ts'
export type * from './spec/service.ts'
export type * from './spec/database.ts'
export type * from './spec/record.ts'
export type * from './spec/key-value.ts'
export type * from './spec/plugin.ts'
export { GatewayError } from './spec/error.ts'
export { Refusal } from './spec/refusal.ts'
export { defineClientCodec, defineCodec, defineUpstreamCodec } from './spec/codec.ts'
export { defineCommand } from './spec/command.ts'
export { definePlugin } from './spec/plugin.ts'
export { defineProvider } from './spec/provider.ts'
export { defineRecord } from './spec/record.ts'
export { defineService } from './spec/service.ts'
export { defineSignal } from './spec/signal.ts'
export { defineSlot } from './spec/slot.ts'
export { noConfig } from './spec/config.ts'
export { defineStage } from './spec/stage.ts'
