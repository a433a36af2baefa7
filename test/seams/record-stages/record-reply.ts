import { GatewayError } from 'sluice'
import type { Ingress, Reply, ShownRecord } from 'sluice'
import { jsonReply, readQuery } from 'sluice/kit'
import type { ReplyOptions } from 'sluice/kit'

/** Configuration of the stages for records of a type. */
export const ofType = {
  type: 'object',
  additionalProperties: false,
  required: ['of'],
  examples: [{ of: 'model' }],
  properties: { of: { type: 'string', 'x-names': 'record', description: 'Type of the records.' } },
} as const

/** Schema of a body. The record type validates it, together with its references. */
export const anyObject = { type: 'object' } as const

/** A whole record, with its version as entity tag. */
export function recordReply(record: ShownRecord, options: ReplyOptions = {}): Reply {
  return jsonReply(record.shown, { ...options, version: record.stored?.version })
}

/** The name of the record in the path of a request. Throws `unknown_field` for a query, which means nothing there. */
export function nameIn({ params, query }: Ingress): string {
  readQuery(query)
  return params['name'] ?? ''
}

export function notFound(type: string, name: string): GatewayError {
  return new GatewayError('not_found', {}, { message: `There is no ${type} "${name.slice(0, 256)}".` })
}
