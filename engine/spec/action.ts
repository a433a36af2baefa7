import type { JSONSchema } from 'json-schema-to-ts'
import type { Access } from './access.ts'
import type { ConfigOf, Stability } from './config.ts'
import type { ErrorCode } from './error-table.ts'
import type { Host } from './host.ts'
import type { JsonObject } from './json.ts'
import type { PageParts } from './page.ts'
import type { Principal, Requester } from './principal.ts'
import type { ListQuery, ListSchema, Query, QuerySchema } from './query.ts'
import type { RecordName } from './record.ts'
import type { Scope } from './scope.ts'
import type { ServiceName, Views } from './service.ts'
import type { Ingress, SlotName } from './slots.ts'

/**
 * How the audit trail learns of what an action writes. `record`: a change of a record of this type, whose row is in the
 * transaction of the change. `own audit row`: the action appends it itself. `not`: why there is none.
 */
export type Writes = { readonly record: RecordName | 'section' } | 'own audit row' | { readonly not: string }

/** The parameters in a route: `{ name: string }` for `GET /api/models/:name`. */
export type ParamsOf<R extends string> = R extends `${string}/:${infer P}/${infer Rest}`
  ? { readonly [K in P]: string } & ParamsOf<`/${Rest}`>
  : R extends `${string}/:${infer P}`
    ? { readonly [K in P]: string }
    : unknown

/** What is known of a request before its query and body are read. */
export interface ActionAsked<R extends string = string, X extends Access = Access> {
  readonly ingress: Ingress
  readonly params: ParamsOf<R>
  /** Absent: the action is public. */
  readonly principal: X extends { readonly public: true } ? undefined : Principal
  /** Who asks, for `host.records.change` and the audit trail. */
  readonly by: Requester
}

/** What an action runs with: the request, with its checked query and body. */
export type ActionInput<R extends string, X extends Access, Q, B> = ActionAsked<R, X> & {
  readonly query: Q extends ListSchema ? ListQuery : Query
} & (B extends object ? { readonly body: unknown extends ConfigOf<B> ? JsonObject : ConfigOf<B> } : unknown)

/** The body of an answer, alone or `answered`, or the bytes of its JSON; a source of bytes for `stream`; nothing: 204. */
export type ActionAnswer = object | undefined | void

interface Described {
  readonly name: string
  /** One sentence. */
  readonly summary: string
  /** Default: `beta`. */
  readonly stability?: Stability
  /** The codes of errors beyond those that every action may answer. */
  readonly errors?: readonly ErrorCode[]
  /** Maximum bytes of the body; default: 1 MiB. */
  readonly bodyLimit?: number
  /** JSON Schema of the body of a 2xx answer, or of one event or line of a stream; every field has a description. */
  readonly answer?: object
  /** Default: 200, or 204 without a body. */
  readonly status?: 201 | 202 | 204
  /** For POST, PATCH, PUT and DELETE. */
  readonly writes?: Writes
  /** `run` returns a source of server-sent `events`, which may outlive the exchange, or of `lines` of JSON. */
  readonly stream?: 'events' | 'lines'
  /** The pipelines that it runs (`host.dispatch`), with the slots that it hands over, and those that it expects. */
  readonly runs?: Readonly<
    Record<string, { readonly inputs: readonly SlotName[]; readonly gives?: readonly SlotName[] }>
  >
  /** How long it may take, such as `10m`; default: `60s`. */
  readonly timeout?: string
  /** How the console shows the list that it answers. */
  readonly page?: PageParts
}

/** What answers one route by itself. Its role is checked first, then run `before`, the query, the body, `run`. */
export interface ActionParts<R extends string, X extends Access, Q, B, U extends ServiceName> extends Described {
  /** A method and a path: `PATCH /api/models/:name`. */
  readonly route: R
  readonly access: X
  /** JSON Schema of each parameter, or `listOf`; absent: there are none. */
  readonly query?: Q
  /** JSON Schema of the body, as of a stage. Absent: it is not read. */
  readonly body?: B
  readonly uses?: readonly U[]
  /** Refuses a request before its query and body are read, by throwing a `GatewayError`. */
  before?(asked: ActionAsked<R, X>, services: Views<U>): unknown
  run(
    input: ActionInput<R, X, Q, B>,
    services: Views<U>,
    scope: Scope,
    host: Host,
  ): ActionAnswer | Promise<ActionAnswer>
}

/** A declared action in a registry. */
export interface AnyAction extends Described {
  readonly kind: 'action'
  readonly route: string
  readonly access: Access
  readonly query?: QuerySchema | ListSchema
  readonly body?: JSONSchema & object
  readonly uses?: readonly string[]
  before?(asked: ActionAsked, services: object): unknown
  run(
    input: ActionAsked & { readonly query: Query; readonly body?: JsonObject },
    services: object,
    scope: Scope,
    host: Host,
  ): ActionAnswer | Promise<ActionAnswer>
}

/** Declares an action. */
export function defineAction<
  const R extends string,
  const X extends Access,
  // No defaults: with them, the parameters of `run` would have no types.
  const Q extends QuerySchema | ListSchema | undefined,
  const B extends object | undefined,
  const U extends ServiceName = never,
>(action: ActionParts<R, X, Q, B, U>): AnyAction {
  return { kind: 'action', ...action } as unknown as AnyAction
}
