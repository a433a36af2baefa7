import type { Json } from '../spec/json.ts'
import type { Ingress, Reply } from '../spec/slots.ts'
import type { Principal, Requester } from '../spec/principal.ts'
import type { Scope } from '../spec/scope.ts'

/** Headers of every answer about records: they are nobody else's, and a browser takes them for nothing but JSON. */
const headers = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

/** Fields of a reply beside its body. */
export interface ReplyOptions {
  /** Default: 200. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Version of the record, which becomes the entity tag (RFC 9110, section 8.8.3). */
  readonly version?: number | null | undefined
}

/** What an action answers, with what belongs beside its body. */
export class Answered {
  readonly body: object | undefined
  readonly options: ReplyOptions
  constructor(body: object | undefined, options: ReplyOptions) {
    this.body = body
    this.options = options
  }
}

/**
 * The body of an action's answer, with an entity tag (`version`), an address (`location`), further headers, or another
 * status than the action's own.
 */
export function answered(
  body: object | undefined,
  { location, headers: more, ...options }: ReplyOptions & { readonly location?: string } = {},
): Answered {
  return new Answered(body, { ...options, headers: { ...(location === undefined ? {} : { location }), ...more } })
}

/** A JSON answer that nobody may keep. */
export function jsonReply(value: Json, { status = 200, headers: more = {}, version }: ReplyOptions = {}): Reply {
  const tag = typeof version === 'number' ? { etag: `"${version}"` } : {}
  return { status, headers: { ...headers, ...tag, ...more }, body: { kind: 'json', value } }
}

/** An answer without a body. */
export const emptyReply: Reply = { status: 204, headers, body: { kind: 'none' } }

/** The accepted versions of a record (`If-Match`, RFC 9110, section 13.1.1); empty if any version is accepted. */
export function versionsIn({ headers: given }: Ingress): { readonly versions?: readonly number[] } {
  const tags = given['if-match']
  if (tags === undefined || tags.trim() === '*') return {}
  // A weak tag never matches.
  const strong = [...tags.matchAll(/(W\/)?"([^"]{0,256})"/g)].flatMap(([, weak, tag = '']) => (weak ? [] : [tag]))
  return { versions: strong.filter((tag) => /^\d{1,15}$/.test(tag)).map(Number) }
}

/** Who asks for a change in this exchange. */
export function requesterOf(
  scope: Pick<Scope, 'id'>,
  { ingress, principal }: { readonly ingress?: Ingress; readonly principal?: Principal },
): Requester {
  return { id: scope.id, ...(principal && { principal }), ...(ingress && { address: ingress.remote }) }
}
