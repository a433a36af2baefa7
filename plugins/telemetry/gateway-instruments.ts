import { tiers } from '../../engine/kit.ts'
import { other, rpcCodes, toolError } from './error-type.ts'
import type { LabelValues } from './instruments.ts'
import type { Registry } from './registry.ts'

/** Upper bounds of buckets, in seconds: of whole requests, of one token, of what the gateway itself takes. */
export const buckets = {
  request: Array.from({ length: 16 }, (_, at) => 2 ** at / 100),
  token: [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5],
  overhead: [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5],
}

const model = { records: 'model' } as const
const provider = { records: 'provider' } as const

/** Values of the label `type` of tokens: disjoint, as in the request log. */
export const tokenTypes = ['input', 'cache_read', 'cache_write', 'output', 'reasoning'] as const
/** Parts of input and output. */
export const mediaTypes = ['input_audio', 'output_audio', 'input_image', 'output_image'] as const
const server = { records: 'mcp_server' } as const
/** Requests of clients (MCP, revision 2025-11-25); others, and notifications, are `other`. */
export const mcpMethods = [
  'initialize',
  'ping',
  'tools/list',
  'tools/call',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'completion/complete',
  'logging/setLevel',
]
const origins = ['reported', 'estimated', 'unasked']
/** As pipelines say it: each message is a request, or one exchange lasts as long as the socket. */
export const socketKinds = ['messages', 'relay'] as const
const results = ['live', 'refused', 'unchanged']

/** How a call of a provider ended. */
export const outcomes = [
  'ok',
  ...[400, 401, 402, 403, 404, 408, 409, 413, 415, 422, 429].map((status) => `http_${status}`),
  'http_4xx',
  'http_5xx',
  'connect',
  'timeout',
  'aborted',
  'broken',
]

type Further = Readonly<Record<string, LabelValues>>

/** Instruments that operators may give further labels. */
export const labelled = [
  'sluice_requests_total',
  'sluice_tokens_total',
  'sluice_media_tokens_total',
  'sluice_cost_usd_total',
  'sluice_cost_unknown_total',
]

/**
 * What the gateway measures of exchanges, calls and itself.
 * @param further labels of requests, tokens and cost that the operator has asked for
 */
export function instrumentsIn(registry: Registry, further: Further) {
  const counter = (name: string, help: string, labels: Further) => registry.counter({ name, help, labels })
  const seconds = (name: string, help: string, labels: Further, bounds: readonly number[] = buckets.request) =>
    registry.histogram({ name, help, labels }, bounds)
  return {
    requests: counter('sluice_requests_total', 'Requests, by what came of them.', {
      pipeline: 'pipeline',
      protocol: 'protocol',
      model,
      provider,
      code: 'code',
      stream: ['true', 'false'],
      ...further,
    }),
    duration: seconds(
      'sluice_request_duration_seconds',
      'Time from the first byte of a request to the last one of its answer.',
      {
        pipeline: 'pipeline',
        model,
        provider,
        stream: ['true', 'false'],
      },
    ),
    firstToken: seconds('sluice_time_to_first_token_seconds', 'Time until the first content of a stream.', {
      model,
      provider,
      protocol: 'protocol',
    }),
    perToken: seconds(
      'sluice_time_per_output_token_seconds',
      'Time between two tokens of a stream, after the first.',
      { model, provider },
      buckets.token,
    ),
    overhead: seconds(
      'sluice_overhead_seconds',
      'Time until the first byte of an answer, without what providers took.',
      { pipeline: 'pipeline' },
      buckets.overhead,
    ),
    upstreamRequests: counter('sluice_upstream_requests_total', 'Calls of providers, by how they ended.', {
      provider,
      model,
      outcome: outcomes,
    }),
    upstreamDuration: seconds('sluice_upstream_duration_seconds', 'Time of a call of a provider.', { provider, model }),
    upstreamFirstByte: seconds('sluice_upstream_first_byte_seconds', 'Time until a provider began to answer.', {
      provider,
      model,
    }),
    retries: counter('sluice_retries_total', 'Further tries at the same place, by the provider that had failed.', {
      model,
      provider,
      reason: outcomes,
    }),
    fallbacks: counter('sluice_fallbacks_total', 'Further tries at another place, by the provider that had failed.', {
      model,
      provider,
      reason: outcomes,
    }),
    tokens: counter('sluice_tokens_total', 'Tokens; the types are disjoint.', {
      model,
      provider,
      type: tokenTypes,
      ...further,
    }),
    mediaTokens: counter(
      'sluice_media_tokens_total',
      'Tokens of audio and images, which are parts of input and output.',
      {
        model,
        provider,
        type: mediaTypes,
        ...further,
      },
    ),
    cost: counter('sluice_cost_usd_total', 'Cost in USD, by how it is known.', {
      model,
      provider,
      origin: origins,
      ...further,
    }),
    costUnknown: counter('sluice_cost_unknown_total', 'Requests whose cost is unknown.', {
      model,
      provider,
      ...further,
    }),
    routingCost: counter('sluice_routing_cost_usd_total', 'Cost in USD of requests whose model the gateway chose.', {
      tier: tiers,
    }),
    routingBaseline: counter(
      'sluice_routing_baseline_usd_total',
      'What the same requests would have cost with the baseline model; the difference is what was saved.',
      { tier: tiers },
    ),
    mcpRequests: counter('sluice_mcp_requests_total', 'Messages to MCP servers, by how they ended.', {
      server,
      method: mcpMethods,
      outcome: [...outcomes, ...rpcCodes, toolError, other],
    }),
    mcpDuration: seconds('sluice_mcp_request_seconds', 'Time until an MCP server has answered a message.', {
      server,
      method: mcpMethods,
    }),
    inFlight: registry.gauge(
      { name: 'sluice_in_flight', help: 'Requests under way.', labels: { pipeline: 'pipeline' } },
      'sum',
    ),
    sockets: registry.gauge(
      {
        name: 'sluice_sockets',
        help: 'Open WebSockets of clients, by what they carry.',
        labels: { kind: socketKinds },
      },
      'sum',
    ),
    // Each process reads each of them.
    reloads: registry.counter(
      {
        name: 'sluice_config_reloads_total',
        help: 'Configurations that were read, by what came of it.',
        labels: { result: results },
      },
      'max',
    ),
    storeUp: registry.gauge(
      {
        name: 'sluice_store_up',
        help: 'Whether a store can be used: 1, or 0.',
        labels: { store: ['database', 'key_value'] },
      },
      'first',
    ),
    configInfo: registry.gauge(
      { name: 'sluice_config_info', help: 'The version of the running configuration.', labels: { version: 'version' } },
      'first',
    ),
    configAge: registry.gauge(
      { name: 'sluice_config_age_seconds', help: 'Time since the running configuration went live.' },
      'first',
    ),
    workers: registry.gauge({ name: 'sluice_workers', help: 'Processes that serve.' }, 'sum'),
    buildInfo: registry.gauge(
      {
        name: 'sluice_build_info',
        help: 'The version of Sluice, and of Node.js.',
        labels: { version: 'version', node: 'version' },
      },
      'first',
    ),
  }
}

export type GatewayInstruments = ReturnType<typeof instrumentsIn>
