import type { Host, Judge, Json, JsonObject, Judged } from '../../engine/index.ts'
import { isObject, jsonService } from '../../engine/kit.ts'
import { allOf } from './masking.ts'
import type { WebhookConfig } from './webhook-sluice.ts'

const path = '/beta/litellm_basic_guardrail_api'

/** Headers of clients whose values the service gets. */
const shown = new Set(['user-agent', 'content-type', 'accept'])

/** The generic guardrail API of LiteLLM. */
export function litellm({ url, headers, params }: WebhookConfig, host: Host): Judge {
  const base = url.replace(/\/$/, '')
  const service = jsonService(base.endsWith(path) ? base : base + path, headers, host)
  return async (judged, scope) => {
    const said = await service.ask(questionOf(judged, params as JsonObject, host), scope)
    const { action, blocked_reason: reason, texts, images, tools } = said
    const told = typeof reason === 'string' && reason !== '' ? { reason: reason.slice(0, 256) } : {}
    if (action === 'NONE') return { hit: false, ...told }
    if (action === 'BLOCKED') return { hit: true, spans: allOf(judged.texts), ...told }
    if (action !== 'GUARDRAIL_INTERVENED') throw new Error('its answer has no "action" that is known')
    if (!Array.isArray(texts) || texts.length !== judged.texts.length || !texts.every((one) => typeof one === 'string'))
      throw new Error('it has not answered for each text')
    const changed = (texts as readonly string[]).flatMap((text, index) =>
      text === judged.texts[index]?.text ? [] : [{ text: index, with: text }],
    )
    const ignored = [images, tools].some((one) => Array.isArray(one) && one.length > 0)
    const why = ignored && told.reason === undefined ? { reason: 'its changes of images and tools are ignored' } : told
    return { hit: changed.length > 0, texts: changed, ...why }
  }
}

function questionOf(judged: Judged, params: JsonObject, host: Host): JsonObject {
  const { side, texts, tool_calls: calls, request } = judged
  const { key, end_user: user } = request
  const isInput = side === 'input'
  const chat = isInput ? chatOf(judged, host) : {}
  return {
    input_type: isInput ? 'request' : 'response',
    litellm_call_id: request.id,
    litellm_trace_id: null,
    structured_messages: chat['messages'] ?? null,
    images: null,
    tools: chat['tools'] ?? null,
    texts: texts.map(({ text }) => text),
    request_data: {
      user_api_key_hash: key?.id ?? null,
      user_api_key_alias: key?.name ?? null,
      user_api_key_user_id: key?.owner ?? null,
      user_api_key_user_email: null,
      user_api_key_team_id: null,
      user_api_key_team_alias: null,
      user_api_key_end_user_id: user,
      user_api_key_org_id: null,
    },
    request_headers: headersOf(request.headers),
    litellm_version: null,
    additional_provider_specific_params: params,
    tool_calls: calls.length === 0 ? null : calls.map(callOf),
    model: request.model,
  }
}

function callOf({ id, name, arguments: input }: Judged['tool_calls'][number]): Json {
  return { id, type: 'function', function: { name, arguments: input } }
}

/** The names of all headers, with the values of the harmless ones. */
function headersOf(headers: Judged['request']['headers']): JsonObject {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, shown.has(name) ? String(value) : '[present]']),
  )
}

/** The request as one of chat completions; empty for operations without messages. */
function chatOf({ request }: Judged, host: Host): JsonObject {
  if (request.protocol === 'chat') return isObject(request.body) ? request.body : {}
  const neutral = request.neutral?.()
  if (neutral === undefined) return {}
  const { model } = request
  const able = { supports_images: true, supports_tools: true, supports_mapeval: false, supports_realtime: false }
  const record = {
    name: model,
    provider: '',
    upstream_model: model,
    aliases: [],
    fallbacks: [],
    auto_eligible: false,
    ...able,
  }
  const offer = { operation: 'generate', protocol: 'chat' } as const
  const printed = host.codec('chat').request?.print(neutral, { model, record, offer, origin: '' })
  return isObject(printed?.body) ? printed.body : {}
}
