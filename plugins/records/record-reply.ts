import { GatewayError } from '../../engine/index.ts'
import type { Ingress, Json, JsonObject, RecordField, RecordView, Reply } from '../../engine/index.ts'
import { jsonReply, timeText } from '../../engine/kit.ts'
import type { ReplyOptions } from '../../engine/kit.ts'

/** Configuration of the stages for records of a type. */
export const ofType = {
  type: 'object',
  additionalProperties: false,
  required: ['of'],
  properties: { of: { type: 'string', 'x-names': 'record', description: 'Type of the records.' } },
} as const

/** Schema of a body. The record type validates it, together with its references. */
export const anyObject = { type: 'object' } as const

/** A record for clients: its fields and its state, without secrets. */
export function wireOf({ value, secrets, source, declaredAt, stored, problem }: RecordView): JsonObject {
  const beside: Partial<Record<RecordField, Json>> = {
    ...(Object.keys(secrets).length > 0 ? { secrets } : {}),
    source,
    ...(declaredAt ? { declared_at: { ...declaredAt } } : {}),
    version: stored?.version ?? null,
    ...(stored ? { created_at: timeText(stored.createdAt), updated_at: timeText(stored.updatedAt) } : {}),
    problem: problem ?? null,
  }
  return { ...value, ...beside }
}

/** A whole record, with its version as entity tag. */
export function recordReply(record: RecordView, options: ReplyOptions = {}): Reply {
  return jsonReply(wireOf(record), { ...options, version: record.stored?.version })
}

/** The name of the record in the path of a request. */
export function nameIn({ params }: Ingress): string {
  return params['name'] ?? ''
}

export function notFound(type: string, name: string): GatewayError {
  return new GatewayError('not_found', {}, { message: `There is no ${type} "${name.slice(0, 256)}".` })
}
