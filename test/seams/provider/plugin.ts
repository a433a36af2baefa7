// A vendor with a wire format of its own: turns in, words and calls out, the model in the address, AWS event streams.
import { definePlugin, defineProvider, defineUpstreamCodec } from 'sluice'
import type { EventParser, Failure, Frame, GenerateEvent, GenerateReply, GenerateRequest, Item } from 'sluice'
import type { Json, JsonObject, Loss, Part, Printed, Restore, StopReason, Usage } from 'sluice'
import { PairedCalls, Telling, asText, baseUrl, fold, isObject, openUpstream, parsedObject } from 'sluice/kit'
import { restored, toolNames, unsaid, upstreamProperties } from 'sluice/kit'

function print(request: GenerateRequest): Printed<JsonObject> {
  const { items, tools, toolChoice: choice, maxOutputTokens, temperature } = request
  const names = toolNames(tools, 64)
  const calls = new PairedCalls(items)
  const losses: Loss[] = [...unsaid(request, ['toolChoice', 'maxOutputTokens', 'temperature'])]
  const lost = (field: string): [] => {
    losses.push({ field, because: 'acme knows words and calls alone' })
    return []
  }
  const words = (parts: readonly Part[]) =>
    parts
      .flatMap((part) => (part.type === 'text' || part.type === 'refusal' ? [part.text] : lost(part.type)))
      .join('\n')
  const turn = (item: Item): readonly JsonObject[] => {
    if (item.type === 'message')
      return [{ who: item.role === 'assistant' ? 'model' : item.role, say: words(item.content) }]
    if (item.type === 'call')
      return [
        { who: 'model', use: { id: calls.id(item), tool: names.printed(item), with: parsedObject(item.input) ?? {} } },
      ]
    const call = item.type === 'result' ? calls.call(item) : undefined
    if (item.type !== 'result' || !call) return lost(item.type)
    return [{ who: 'tool', id: calls.id(call), result: words(item.content), failed: item.error === true }]
  }
  const declared = tools.flatMap((tool): readonly JsonObject[] => {
    if (tool.type !== 'function') return lost('tools')
    return [{ name: names.printed(tool), about: tool.description ?? '', takes: tool.parameters ?? { type: 'object' } }]
  })
  const body = {
    turns: items.flatMap(turn),
    ...(declared.length > 0 ? { tools: declared } : {}),
    ...(choice?.type === 'tool' ? { use: names.printed(choice) } : {}),
    ...(choice?.type === 'none' || choice?.type === 'required' ? { use: choice.type } : {}),
    ...(maxOutputTokens === undefined ? {} : { limit: maxOutputTokens }),
    ...(temperature === undefined ? {} : { heat: temperature }),
  }
  if (choice?.type === 'allowed' || choice?.type === 'opaque') lost('tool_choice')
  return { body, losses, restore: names.restore('as-functions') }
}

const stops: Readonly<Record<string, StopReason>> = { done: 'end', tools: 'tool', limit: 'length' }

const usageOf = (spent: unknown): Usage | undefined =>
  isObject(spent)
    ? { input: Number(spent['in']), cacheRead: 0, cacheWrite: 0, output: Number(spent['out']), reasoning: 0 }
    : undefined

/** Events "say" { text }, "use" { id, tool }, "with" { text }, "end" { why, spent }, and "fault" { message }. */
function parser(restore?: Restore): EventParser<GenerateEvent> {
  const told = new Telling()
  return {
    parse(frame) {
      const { text, id, tool, why, spent } = parsedObject(frame.data) ?? {}
      const failure = failed(frame)
      if (failure) return told.fail(failure)
      if (frame.event === 'say') return told.text(asText(text))
      if (frame.event === 'use') return told.call({ callId: asText(id), ...restored(restore, asText(tool)) })
      if (frame.event === 'with') return told.input(asText(text))
      return frame.event === 'end' ? told.finish(stops[asText(why)] ?? 'end', usageOf(spent)) : []
    },
    end: () => told.end(),
  }
}

const fault = (status: number, body: unknown): Failure => {
  const { message = 'acme failed', kind } = isObject(body) ? body : {}
  return {
    status,
    code: typeof kind === 'string' ? kind : null,
    type: status < 500 ? 'invalid_request_error' : 'server_error',
    message: asText(message),
    param: null,
  }
}
const failed = ({ event, data }: Frame) => (event === 'fault' ? fault(502, parsedObject(data)) : undefined)

/** A whole answer is the list of the events of its stream, each with its name under "event". */
function parse(body: Json, restore?: Restore): GenerateReply {
  const events = parser(restore)
  const said = isObject(body) && Array.isArray(body['answer']) ? body['answer'].filter(isObject) : []
  const frames = said.map((event): Frame => ({ event: asText(event['event']), data: JSON.stringify(event) }))
  return fold([...frames.flatMap((frame) => [...events.parse(frame)]), ...events.end()])
}

const talk = defineUpstreamCodec({
  protocol: 'acme-talk',
  operation: 'generate',
  summary: 'Turns in, words and calls out.',
  address: { prefix: '/api', path: '/talk/{model}', streamed: '/talk/{model}/live' },
  framing: 'aws-event-stream',
  error: { parse: fault },
  failed,
  request: { print },
  reply: { parse },
  events: { parser },
})

const acme = defineProvider({
  name: 'acme',
  summary: 'A vendor with a wire format of its own.',
  config: {
    type: 'object',
    additionalProperties: false,
    required: ['base_url', 'api_key'],
    properties: { base_url: baseUrl, ...upstreamProperties },
  } as const,
  secrets: ['api_key'],
  offers: () => [{ protocol: talk.protocol }],
  open: (config, host) =>
    openUpstream(config, host, { protocols: [talk.protocol], headers: { 'x-acme-key': config.api_key } }),
})

export default definePlugin({ name: 'acme', summary: 'Acme.', codecs: [talk], providers: [acme] })
