import type { JsonObject } from './json.ts'
import type { Operation, ReplyOf, RequestOf } from './operation.ts'
import type { Cost, Metered } from './usage.ts'

/** What stages and providers tell of a call. */
export interface CallFacts {
  /** Whether a stream was asked for. */
  streamed?: boolean
  /** Whether the bytes of client and provider pass unchanged. */
  lane?: 'bytes' | 'translated'
  server?: { readonly address: string; readonly port: number }
  /** Position of its key among those of the provider, if there are several. */
  key?: number
  /** What it used, as the provider reported it, or as it was estimated for what arrived. */
  metered?: Metered
  /** What that costs. The costs of all calls of an exchange add up to its `bill`. */
  cost?: Cost
  /** The parameters of the request, without its contents: numbers and names. Read when it is called, and then only. */
  asked?: () => JsonObject
  /** What the provider was asked and what it answered, in neutral form, as far as there is one. Made when it is called. */
  content?: () => ToldContent
}

/** Contents of a call. A stage may have changed them on their way from, and to, the client. */
export interface ToldContent {
  readonly request?: RequestOf<Operation>
  readonly reply?: ReplyOf<Operation>
}

/** What stages tell of an exchange. */
export interface ExchangeFacts {
  /** How difficult smart routing took it to be, and what that saved, in USD. */
  tier?: string
  /** Name, side, outcome and shadow of each guard that judged. */
  guards?: readonly JsonObject[]
  savings?: number
}

/** Takes facts about a call of a provider, for whoever listens. */
export interface TellingCall {
  tell(facts: CallFacts): void
  /** Content of its stream has arrived. */
  arrived(): void
  /** Whether somebody wants its contents. */
  readonly keeps: boolean
}
