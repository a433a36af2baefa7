import type { JsonObject, ToldCall, ToldExchange, TypedRecords, Usage } from '../../engine/index.ts'
import { isObject } from '../../engine/kit.ts'
import { errorOfCall } from './error-type.ts'
import { clean } from './exchange-span.ts'
import { names, operations, providersOfHosts, providersOfTypes } from './semantic-conventions.ts'
import type { Attributes } from './tracer.ts'

/** What the conventions call an operation. */
export function operationOf({ operation, protocol }: Pick<ToldCall, 'operation' | 'protocol'>): string {
  if (operation === 'generate' && protocol === 'gemini') return 'generate_content'
  return operation === undefined ? 'call' : (operations[operation] ?? operation)
}

export function nameOf(call: ToldCall): string {
  return call.model === undefined ? operationOf(call) : `${operationOf(call)} ${call.model}`
}

/** What is known when a provider is asked; a sampler may read it. */
export function startOf(call: ToldCall, provider: string): Attributes {
  const attributes: Attributes = {
    [names.operation]: operationOf(call),
    [names.provider]: provider,
    [names.providerRecord]: call.provider,
    [names.attempt]: call.attempt,
  }
  if (call.model !== undefined) attributes[names.requestModel] = call.model
  if (call.protocol !== undefined) attributes[names.upstreamProtocol] = call.protocol
  return attributes
}

/** The provider as the conventions name it, unless its record says how. */
export function providerOf({ provider, type, vendor }: ToldCall, { name, host }: ProviderFacts): string {
  return name ?? vendor ?? (host && providersOfHosts[host]) ?? providersOfTypes[type] ?? provider
}

/** What the record of a provider says. */
export interface ProviderFacts {
  /** Its name in traces. */
  readonly name?: string
  /** Of its address. */
  readonly host?: string
}

/** What the records of providers say, by name. */
export function providersIn(records: Pick<TypedRecords, 'of'>): ReadonlyMap<string, ProviderFacts> {
  return new Map(records.of('provider').map((provider) => [provider.name, factsOf(provider)]))
}

function factsOf(provider: { readonly telemetry_name?: string; readonly [field: string]: unknown }): ProviderFacts {
  const { telemetry_name: name, base_url: address } = provider
  const host = typeof address === 'string' ? URL.parse(address)?.hostname : undefined
  return { ...(name === undefined ? {} : { name }), ...(host === undefined ? {} : { host }) }
}

/** Says of a call what is known at its end. */
export function describeCall(
  attributes: Attributes,
  call: ToldCall,
  exchange: ToldExchange | undefined,
  scrub: (text: string) => string,
): void {
  const { metered, streamed, cost, server, lane, status = 200 } = call
  if (lane !== undefined) attributes[names.lane] = lane
  if (server !== undefined) {
    attributes[names.serverAddress] = server.address
    attributes[names.serverPort] = server.port
  }
  if (streamed === true) {
    attributes[names.stream] = true
    const first = call.firstContent ?? call.firstByte
    // A refusal is no first part of an answer.
    if (first !== undefined && status < 400) attributes[names.firstChunk] = first / 1_000
  }
  describeRequest(attributes, call, (text) => clean(text, scrub))
  if (metered?.model !== undefined) attributes[names.responseModel] = metered.model
  if (metered?.id !== undefined) attributes[names.responseId] = metered.id
  if (metered?.stop !== undefined) attributes[names.finishReasons] = [finishReason(metered.stop)]
  if (metered?.usage) describeUsage(attributes, metered.usage)
  if (cost?.micros !== undefined) attributes[names.cost] = cost.micros / 1e6
  const error = errorOfCall(call, exchange)
  if (error !== undefined) attributes[names.errorType] = error
}

/** Our words for why a model stopped, as the conventions have them. */
export function finishReason(stop: string): string {
  return finishReasons[stop] ?? stop
}

const finishReasons: Readonly<Record<string, string>> = {
  end: 'stop',
  stop: 'stop',
  length: 'length',
  context: 'length',
  tool: 'tool_call',
  filter: 'content_filter',
}

const mediaTypes: Readonly<Record<string, string>> = { image: 'image', edit: 'image', speak: 'speech' }

/** Most stop sequences of a request. */
const mostStops = 16

/** The parameters of a request: numbers and names. */
function describeRequest(attributes: Attributes, call: ToldCall, cleaned: (text: string) => string): void {
  const asked = askedOf(call)
  for (const [field, name] of numbers) {
    const value = asked[field]
    if (typeof value === 'number') attributes[name] = value
  }
  const { topK, stop, choices = asked['n'], reasoning, format, previous, conversation } = asked
  if (typeof topK === 'number') attributes[names.topK] = Math.round(topK)
  if (Array.isArray(stop) && stop.length > 0)
    attributes[names.stopSequences] = stop.slice(0, mostStops).map((one) => cleaned(String(one)))
  if (typeof choices === 'number' && choices !== 1) attributes[names.choices] = choices
  if (isObject(reasoning) && typeof reasoning['effort'] === 'string')
    attributes[names.reasoning] = cleaned(reasoning['effort'])
  if (typeof previous === 'string') attributes[names.previous] = cleaned(previous)
  if (typeof conversation === 'string') attributes[names.conversation] = cleaned(conversation)
  const output = mediaTypes[call.operation ?? ''] ?? (format === 'schema' ? 'json' : format)
  if (typeof output === 'string') attributes[names.outputType] = cleaned(output)
}

const numbers = [
  ['maxOutputTokens', names.maxTokens],
  ['temperature', names.temperature],
  ['topP', names.topP],
  ['frequencyPenalty', names.frequencyPenalty],
  ['presencePenalty', names.presencePenalty],
  ['seed', names.seed],
] as const

/** A body without a meaning has been refused, and says nothing here. */
function askedOf({ asked }: ToldCall): JsonObject {
  try {
    return asked?.() ?? {}
  } catch {
    return {}
  }
}

/** Ours are disjoint; those of the conventions contain one another. */
export function describeUsage(attributes: Attributes, usage: Usage): void {
  const { input, cacheRead, cacheWrite, output, reasoning } = usage
  attributes[names.inputTokens] = input + cacheRead + cacheWrite
  attributes[names.outputTokens] = output + reasoning
  const put = (name: string, count = 0) => {
    if (count > 0) attributes[name] = count
  }
  put(names.cacheRead, cacheRead)
  put(names.cacheWrite, cacheWrite)
  put(names.reasoningTokens, reasoning)
  put(names.audioInput, usage.inputAudio)
  put(names.audioOutput, usage.outputAudio)
  put(names.imageInput, usage.inputImage)
  put(names.imageOutput, usage.outputImage)
}
