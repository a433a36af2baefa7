import type { Host, Judge, Json, JsonObject, Judged } from '../../engine/index.ts'
import { isObject, jsonService } from '../../engine/kit.ts'
import { textsIn } from './texts.ts'
import { allOf } from './masking.ts'
import type { WebhookConfig } from './webhook-sluice.ts'

const types: Readonly<Record<string, string>> = {
  chat: 'chatComplete',
  gemini: 'chatComplete',
  messages: 'messages',
  responses: 'createModelResponse',
  embeddings: 'embed',
}

/** The webhooks of Portkey. */
export function portkey({ url, headers, action }: WebhookConfig, host: Host): Judge {
  const service = jsonService(url, headers, host)
  return async (judged, scope) => {
    const { verdict, transformedData: changed } = await service.ask(questionOf(judged), scope)
    if (typeof verdict !== 'boolean') throw new Error('its answer has no "verdict"')
    const texts = action === 'mask' && isObject(changed) ? changesIn(changed, judged) : undefined
    // A refusal without other texts is one of all of them.
    if (texts && (verdict || texts.length > 0)) return { hit: texts.length > 0, texts }
    return verdict ? { hit: false } : { hit: true, spans: allOf(judged.texts) }
  }
}

function questionOf(judged: Judged): JsonObject {
  const { side, request, texts } = judged
  const { protocol, body } = request
  const isInput = side === 'input'
  const response = isInput
    ? { json: {}, text: '', statusCode: null, isTransformed: false }
    : { json: answerOf(judged), text: texts.map(({ text }) => text).join(''), statusCode: 200, isTransformed: false }
  const asked = textsIn(isObject(body) ? body : {}, protocol)
  return {
    request: {
      json: protocol === 'gemini' ? { model: request.model, messages: messagesOf(asked) } : body,
      text: lastOf(isInput ? texts : asked),
      isStreamingRequest: request.stream,
      isTransformed: false,
    },
    response,
    provider: '',
    requestType: types[protocol] ?? 'chatComplete',
    metadata: request.tags,
    eventType: isInput ? 'beforeRequestHook' : 'afterRequestHook',
  }
}

/** The text of the last message: what its parts say together. */
function lastOf(texts: readonly { readonly at: string; readonly text: string }[]): string {
  const messages = texts.map(({ at }) => /^(?:messages|contents|input)(?:\[\d+\])?(?!\w)/.exec(at)?.[0])
  const last = messages.findLast((one) => one !== undefined)
  if (last === undefined) return texts.at(-1)?.text ?? ''
  return texts.flatMap(({ text }, index) => (messages[index] === last ? [text] : [])).join('')
}

function messagesOf(texts: readonly { readonly role: string; readonly text: string }[]): Json {
  return texts.map(({ role, text }) => ({ role, content: text }))
}

/** The answer in the client's protocol, with the texts alone. */
function answerOf({ request: { protocol, model, id }, texts, tool_calls: calls }: Judged): JsonObject {
  const said = texts.map(({ text }) => text)
  if (protocol === 'messages')
    return { id, type: 'message', role: 'assistant', model, content: said.map((text) => ({ type: 'text', text })) }
  if (protocol === 'responses') {
    const content = said.map((text) => ({ type: 'output_text', text, annotations: [] }))
    return { id, object: 'response', model, output: [{ type: 'message', role: 'assistant', content }] }
  }
  const called = calls.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  }))
  const message = { role: 'assistant', content: said.join(''), ...(called.length > 0 ? { tool_calls: called } : {}) }
  return { id, object: 'chat.completion', model, choices: [{ index: 0, message, finish_reason: 'stop' }] }
}

/** The texts that a service has changed. Nothing else of the body may differ in number. */
function changesIn(changed: JsonObject, judged: Judged): readonly { readonly text: number; readonly with: string }[] {
  const part = changed[judged.side === 'input' ? 'request' : 'response']
  const json = isObject(part) ? part['json'] : undefined
  if (!isObject(json)) return []
  const found = judged.side === 'input' ? inputTexts(json, judged) : outputTexts(json)
  if (found.length !== judged.texts.length) throw new Error('it has changed more than texts')
  return found.flatMap((text, index) => (text === judged.texts[index]?.text ? [] : [{ text: index, with: text }]))
}

function inputTexts(json: JsonObject, { request: { protocol, body }, texts }: Judged): readonly string[] {
  const before = textsIn(isObject(body) ? body : {}, protocol)
  const after = textsIn(json, protocol === 'gemini' ? 'chat' : protocol)
  if (after.length !== before.length) return []
  // Several texts may have one place, so what counts is their order.
  let next = 0
  return texts.flatMap(({ at, text }) => {
    const index = before.findIndex((one, number) => number >= next && one.at === at && one.text === text)
    next = index + 1
    return after[index]?.text ?? []
  })
}

function outputTexts(json: JsonObject): readonly string[] {
  const { choices, content, output } = json
  const parts = (value: unknown): readonly string[] =>
    typeof value === 'string'
      ? [value]
      : Array.isArray(value)
        ? value.flatMap((one: unknown) => (isObject(one) && typeof one['text'] === 'string' ? [one['text']] : []))
        : []
  if (Array.isArray(choices)) {
    const [first] = choices as readonly unknown[]
    const message = isObject(first) ? first['message'] : undefined
    return isObject(message) ? parts(message['content']) : []
  }
  if (Array.isArray(output)) return output.flatMap((item: unknown) => (isObject(item) ? parts(item['content']) : []))
  return parts(content)
}
