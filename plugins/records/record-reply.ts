import { GatewayError } from '../../engine/index.ts'
import type { Ingress, Json, JsonObject, RecordField, RecordView, Reply } from '../../engine/index.ts'

/** Configuration of the stages for records of a type. */
export const ofType = {
  type: 'object',
  additionalProperties: false,
  required: ['of'],
  properties: { of: { type: 'string', 'x-names': 'record', description: 'Type of the records.' } },
} as const

/** Schema of a body. The record type validates it, together with its references. */
export const anyObject = { type: 'object' } as const

const headers = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

/** A record for clients: its fields and its state, without secrets. */
export function wireOf({ value, secrets, source, declaredAt, stored, problem }: RecordView): JsonObject {
  const beside: Partial<Record<RecordField, Json>> = {
    ...(Object.keys(secrets).length > 0 ? { secrets } : {}),
    source,
    ...(declaredAt ? { declared_at: { ...declaredAt } } : {}),
    version: stored?.version ?? null,
    ...(stored ? { created_at: timeOf(stored.createdAt), updated_at: timeOf(stored.updatedAt) } : {}),
    problem: problem ?? null,
  }
  return { ...value, ...beside }
}

function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

/** A whole record, with its version as entity tag (RFC 9110, section 8.8.3). */
export function recordReply(record: RecordView, status = 200, more: Readonly<Record<string, string>> = {}): Reply {
  const tag = record.stored ? { etag: `"${record.stored.version}"` } : {}
  return { ...jsonReply(wireOf(record)), status, headers: { ...headers, ...tag, ...more } }
}

export function jsonReply(value: Json): Reply {
  return { status: 200, headers, body: { kind: 'json', value } }
}

/** An answer without a body. */
export const emptyReply: Reply = { status: 204, headers, body: { kind: 'none' } }

/** The name of the record in the path of a request. */
export function nameIn({ params }: Ingress): string {
  return params['name'] ?? ''
}

export function notFound(type: string, name: string): GatewayError {
  return new GatewayError('not_found', {}, { message: `There is no ${type} "${name.slice(0, 256)}".` })
}

/** The accepted versions of a record (`If-Match`, RFC 9110, section 13.1.1); empty if any version is accepted. */
export function versionsIn({ headers: given }: Ingress): { readonly versions?: readonly number[] } {
  const tags = given['if-match']
  if (tags === undefined || tags.trim() === '*') return {}
  // A weak tag never matches.
  const strong = [...tags.matchAll(/(W\/)?"([^"]{0,256})"/g)].flatMap(([, weak, tag = '']) => (weak ? [] : [tag]))
  return { versions: strong.filter((tag) => /^\d{1,15}$/.test(tag)).map(Number) }
}
