import type { JsonObject } from './json.ts'

/**
 * A cache breakpoint: everything up to and including the marked part may be cached. `ttl` is a duration such as `5m`
 * or `1h`.
 */
export interface CacheMark {
  readonly ttl?: string
}

/** A part of a message or of a tool result. */
export type Part = TextPart | RefusalPart | ImagePart | FilePart | AudioPart | OpaquePart

export interface TextPart {
  readonly type: 'text'
  readonly text: string
  readonly annotations?: readonly Annotation[]
  readonly logprobs?: readonly Logprob[]
  readonly cache?: CacheMark
}

export interface RefusalPart {
  readonly type: 'refusal'
  readonly text: string
}

export interface ImagePart {
  readonly type: 'image'
  readonly source: MediaSource
  /** `auto`, `low`, `high`, `original`. */
  readonly detail?: string
  readonly cache?: CacheMark
}

export interface FilePart {
  readonly type: 'file'
  readonly source: MediaSource
  readonly filename?: string
  readonly title?: string
  readonly context?: string
  /** Whether the model should cite from it. */
  readonly citations?: boolean
  readonly cache?: CacheMark
}

export interface AudioPart {
  readonly type: 'audio'
  readonly source: MediaSource
  /** `wav`, `mp3`, … */
  readonly format?: string
}

export interface OpaquePart {
  readonly type: 'opaque'
  readonly protocol: string
  readonly value: JsonObject
}

/**
 * The content of a medium: base64 data with its media type, plain text, a URL, or an id at the provider that stores
 * it. `api` names the family of protocols that share such ids; all others ignore it.
 */
export type MediaSource =
  | { readonly kind: 'data'; readonly mediaType: string; readonly data: string }
  | { readonly kind: 'text'; readonly mediaType: string; readonly text: string }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'id'; readonly id: string; readonly api: string }

/** A citation. `url` citations exist in several protocols; others are kept for the protocol that made them. */
export type Annotation =
  | {
      readonly type: 'url'
      readonly url: string
      readonly title: string
      readonly start: number
      readonly end: number
      /** The citation in the form of the protocol that made it, if that has more detail. */
      readonly own?: { readonly protocol: string; readonly value: JsonObject }
    }
  | { readonly type: 'opaque'; readonly protocol: string; readonly value: JsonObject }

export interface Logprob {
  readonly token: string
  readonly logprob: number
  readonly bytes?: readonly number[] | null
  readonly top?: readonly Omit<Logprob, 'top'>[]
}
