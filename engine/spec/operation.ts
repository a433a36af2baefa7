import type { DecideReply, DecideRequest } from './decide.ts'
import type { EmbedReply, EmbedRequest } from './embed.ts'
import type { GenerateEvent, GenerateReply, GenerateRequest } from './generate.ts'

/**
 * The operations of the gateway, each with its neutral form: `request`, whole `reply`, streamed `event`. An operation
 * whose forms are `never` has none yet, and can only be relayed between equal protocols. Plugins add operations by
 * declaration merging.
 */
export interface Operations {
  generate: { request: GenerateRequest; reply: GenerateReply; event: GenerateEvent }
  decide: { request: DecideRequest; reply: DecideReply; event: never }
  count: { request: never; reply: never; event: never }
  compact: { request: never; reply: never; event: never }
  embed: { request: EmbedRequest; reply: EmbedReply; event: never }
  image: { request: never; reply: never; event: never }
  edit: { request: never; reply: never; event: never }
  speak: { request: never; reply: never; event: never }
  transcribe: { request: never; reply: never; event: never }
  translate: { request: never; reply: never; event: never }
  realtime: { request: never; reply: never; event: never }
}

export type Operation = keyof Operations
export type RequestOf<O extends Operation> = Operations[O]['request']
export type ReplyOf<O extends Operation> = Operations[O]['reply']
export type EventOf<O extends Operation> = Operations[O]['event']
