import type { Asked, GenerateReply, JsonObject, Rest } from '../../../engine/index.ts'
import { isObject } from '../../../engine/kit.ts'
import type { Losses } from '../../../engine/kit.ts'
import { printUsage, parseUsage } from './usage.ts'
import { protocol } from './wire.ts'

const neutral = ['id', 'type', 'role', 'content', 'model', 'stop_reason', 'stop_sequence', 'usage']
const counted = ['cache_creation', 'output_tokens_details']

/** The fields of the start of an answer. */
export function replyHead(message: JsonObject): Pick<GenerateReply, 'id' | 'model' | 'usage' | 'serviceTier'> {
  const { id, model, usage: wire } = message
  const usage = parseUsage(wire)
  const tier = isObject(wire) ? wire.service_tier : undefined
  return {
    ...(typeof id === 'string' ? { id } : {}),
    ...(typeof model === 'string' ? { model } : {}),
    ...(usage ? { usage } : {}),
    ...(typeof tier === 'string' ? { serviceTier: tier === 'standard' ? 'default' : tier } : {}),
  }
}

/** Fields without a neutral form: those that are set, and counters of other units than tokens. */
export function replyRest(message: JsonObject): Rest | undefined {
  const fields = Object.entries(message).filter(
    ([name, value]) => !neutral.includes(name) && value !== null && value !== undefined,
  )
  const usage = Object.entries(isObject(message.usage) ? message.usage : {}).filter(
    ([name, value]) => !counted.includes(name) && isObject(value) && Object.values(value).some(Boolean),
  )
  if (usage.length > 0) fields.push(['usage', Object.fromEntries(usage)])
  return fields.length === 0 ? undefined : { protocol, fields: Object.fromEntries(fields) }
}

/** The id of an answer: the gateway's id in the form of this protocol. */
export function messageId(asked: Asked): string {
  return `msg_${asked.id.replaceAll('-', '')}`
}

/** Usage for a client, with the service tier. */
export function replyUsage({ usage, serviceTier }: Pick<GenerateReply, 'usage' | 'serviceTier'>): JsonObject {
  const tier = serviceTier === 'default' ? 'standard' : serviceTier
  const known = tier === 'standard' || tier === 'priority' || tier === 'batch'
  return { ...printUsage(usage), ...(known ? { service_tier: tier } : {}) }
}

/** Fields that only this protocol has, for its clients; those of other protocols are lost. */
export function ownRest(rest: Rest | undefined, losses: Losses): JsonObject {
  return losses.own(rest, { because: `only ${rest?.protocol} knows it` })
}
