import { createHmac, randomUUID } from 'node:crypto'
import type { Found, Host, Judge, JsonObject, Judged } from '../../engine/index.ts'
import { isObject, jsonService } from '../../engine/kit.ts'
import { allOf } from './masking.ts'

/** What a webhook is opened with. */
export interface WebhookConfig {
  readonly name?: string
  readonly url: string
  /** What the guard does with what is found. */
  readonly action?: string
  readonly secret?: string | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly params: Readonly<Record<string, unknown>>
}

/** The contract of Sluice itself. */
export function sluice(config: WebhookConfig, host: Host): Judge {
  const service = jsonService(config.url, config.headers, host)
  const key = config.secret === undefined ? undefined : keyOf(config.secret)
  return async (judged, scope) => {
    const id = `msg_${randomUUID()}`
    const body = questionOf(id, config.name ?? '', judged)
    const said = await service.ask(body, scope, key ? signed(id, JSON.stringify(body), key) : { 'webhook-id': id })
    return foundIn(said, judged)
  }
}

function questionOf(id: string, guard: string, judged: Judged): JsonObject {
  const { side, final, window, request, texts, tools, tool_calls: calls } = judged
  const { key } = request
  const places = placesOf(judged)
  return {
    id,
    guard,
    side,
    final,
    window,
    request: {
      id: request.id,
      protocol: request.protocol,
      operation: request.operation,
      model: request.model,
      stream: request.stream,
      key: key ? { id: key.id, name: key.name } : null,
      tags: request.tags,
      end_user: request.end_user,
    },
    texts: texts.map(({ role, text }, index) => ({ at: places[index] ?? '', role, text })),
    ...(tools.length > 0 ? { tools } : {}),
    ...(calls.length > 0 ? { tool_calls: calls.map((call) => ({ ...call })) } : {}),
  }
}

/** The headers of Standard Webhooks. */
function signed(id: string, body: string, key: Buffer): Readonly<Record<string, string>> {
  const at = String(Math.floor(Date.now() / 1_000))
  const signature = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': `v1,${signature}` }
}

function keyOf(secret: string): Buffer {
  return secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret)
}

function foundIn(said: JsonObject, judged: Judged): Found {
  const { action, category, score, reason, message } = said
  if (typeof action !== 'string' || !['pass', 'deny', 'mask', 'flag'].includes(action))
    throw new Error('its answer has no "action" that is known')
  const told = {
    ...(typeof category === 'string' ? { category: category.slice(0, 64) } : {}),
    ...(typeof score === 'number' && score >= 0 && score <= 1 ? { score } : {}),
    ...(typeof reason === 'string' ? { reason: reason.slice(0, 256) } : {}),
    ...(typeof message === 'string' && message !== '' ? { message: message.slice(0, 1_024) } : {}),
  }
  if (action === 'pass') return { hit: false, ...told }
  if (action === 'flag') return { hit: true, action, spans: allOf(judged.texts), ...told }
  if (action === 'deny') return { hit: true, spans: allOf(judged.texts), ...told }
  const places = new Map(placesOf(judged).map((at, index) => [at, index]))
  if (!Array.isArray(said['texts'])) throw new Error('it masks without "texts"')
  const texts = said['texts'].map((one: unknown) => {
    const index = isObject(one) && typeof one['at'] === 'string' ? places.get(one['at']) : undefined
    const text = isObject(one) ? one['text'] : undefined
    if (index === undefined || typeof text !== 'string') throw new Error('it masks a text that is not there')
    return { text: index, with: text }
  })
  return { hit: true, texts, ...told }
}

/** The place of each text, by which the service names it: several texts of one place, as in a call, are numbered. */
function placesOf({ texts }: Judged): readonly string[] {
  const taken = new Set<string>()
  return texts.map(({ at }) => {
    let place = at
    for (let number = 1; taken.has(place); number++) place = `${at}[${number}]`
    taken.add(place)
    return place
  })
}
