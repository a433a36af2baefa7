import { GatewayError } from '../../engine/index.ts'
import { answerHold, collect, isObject, parseJson } from '../../engine/kit.ts'
import type { Call, Host, Offer, Operation, Provider, Scope, Traits } from '../../engine/index.ts'
import type { Hold } from '../../engine/kit.ts'
import { addressOf } from './address.ts'
import type { Addresses } from './address.ts'
import { headerLines, traceLines } from './headers.ts'
import { openHttp } from './http.ts'
import type { Http, HttpSettings, Target } from './http.ts'

interface Route {
  readonly operation: Operation
  /** The word in `endpoint_base_urls`. */
  readonly key: string
  /** Path below a base address. */
  readonly path: string
  /** What follows even where the address is a full one. */
  readonly below?: string
}

/** Where each protocol is served, by its name. */
const routes: ReadonlyMap<string, Route> = new Map([
  ['chat', { operation: 'generate', key: 'chat', path: '/chat/completions' }],
  ['responses', { operation: 'generate', key: 'responses', path: '/responses' }],
  ['compact', { operation: 'compact', key: 'responses', path: '/responses', below: '/compact' }],
  ['input-tokens', { operation: 'count', key: 'responses', path: '/responses', below: '/input_tokens' }],
  ['messages', { operation: 'generate', key: 'messages', path: '/messages' }],
  ['count-tokens', { operation: 'count', key: 'messages', path: '/messages', below: '/count_tokens' }],
  ['decisions', { operation: 'decide', key: 'decisions', path: '/decisions' }],
  ['mapeval', { operation: 'decide', key: 'mapeval', path: '/mapeval' }],
  ['embeddings', { operation: 'embed', key: 'embeddings', path: '/embeddings' }],
  ['images', { operation: 'image', key: 'images', path: '/images/generations' }],
  ['image-edits', { operation: 'edit', key: 'images', path: '/images/edits' }],
  ['speech', { operation: 'speak', key: 'audio', path: '/audio/speech' }],
  ['transcriptions', { operation: 'transcribe', key: 'audio', path: '/audio/transcriptions' }],
  ['translations', { operation: 'translate', key: 'audio', path: '/audio/translations' }],
] satisfies readonly (readonly [string, Route])[])

/** Settings of a provider over HTTP: those of `httpProperties`, and its base address. */
export interface UpstreamSettings extends Addresses, HttpSettings {
  readonly headers?: { readonly [name: string]: unknown } | undefined
}

/** The offer of a protocol. */
export function offerOf(protocol: string, traits?: Traits): Offer {
  return { operation: routeOf(protocol).operation, protocol, ...(traits ? { traits } : {}) }
}

/**
 * A provider that serves `protocols` over HTTP. `headers` are its own headers, `perCall` gives lines that depend on the
 * call. The key goes to the configured addresses and nowhere else. Throws an `Error` on settings that cannot be used.
 */
export function openUpstream(
  settings: UpstreamSettings,
  protocols: readonly string[],
  headers: Readonly<Record<string, string>>,
  host: Host,
  perCall?: (call: Call) => readonly string[],
): Provider & Required<Pick<Provider, 'send'>> {
  const http = openHttp(settings, host)
  const lines = headerLines({ 'user-agent': `sluice/${host.version}`, accept: '*/*', ...headers }, settings.headers)
  const targets = new Map(
    protocols.map((protocol) => [protocol, http.target(urlOf(settings, routeOf(protocol)), lines)]),
  )
  const linesOf = (call: Call) =>
    call.trace ? [...(perCall?.(call) ?? []), ...traceLines(call.trace)] : perCall?.(call)
  const list = http.target(addressOf({ base_url: settings.base_url }, 'models', '/models'), lines)
  return {
    send(call) {
      const target = targets.get(call.protocol)
      if (target) return http.post(target, call, linesOf(call))
      const reason = `its provider does not serve ${call.protocol}`
      return Promise.reject(new GatewayError('invalid_request_error', { model: call.publicName ?? call.model, reason }))
    },
    models: (signal) => models(http, list, signal, answerHold(host)),
  }
}

function routeOf(protocol: string): Route {
  const route = routes.get(protocol)
  if (!route) throw new Error(`no provider over HTTP knows where "${protocol}" is served`)
  return route
}

function urlOf(settings: Addresses, route: Route): URL {
  const url = addressOf(settings, route.key, route.path)
  url.pathname += route.below ?? ''
  return url
}

/** Limits of requests that no client waits for, in milliseconds. */
const background = { firstByte: 30_000, idle: 10_000, total: 60_000 }
/** Most bytes a list of models may have. */
const listLimit = 8 * 1024 * 1024

async function models(http: Http, target: Target, signal: AbortSignal, hold: Hold): Promise<readonly string[]> {
  const asking = { model: 'the model list', timeouts: background, scope: scopeOf(signal) }
  const answer = await http.ask(target, 'GET', asking)
  const bytes = await collect(answer.body, listLimit, hold)
  hold.release()
  const unlisted = (reason: string, cause?: unknown) =>
    new GatewayError(
      'upstream_invalid_response',
      { reason },
      { cause, message: `The provider did not list its models: ${reason}.` },
    )
  if (answer.status !== 200) throw unlisted(`it answered with status ${answer.status}`)
  let body: unknown
  try {
    body = parseJson(bytes.toString())
  } catch (cause) {
    throw unlisted('its answer is not JSON', cause)
  }
  const data = isObject(body) ? body['data'] : undefined
  if (!Array.isArray(data)) throw unlisted('its answer has no list')
  return data.flatMap((entry) => (isObject(entry) && typeof entry['id'] === 'string' ? [entry['id']] : []))
}

function scopeOf(signal: AbortSignal): Pick<Scope, 'onAbort'> {
  return {
    onAbort(listener) {
      const tell = () => listener(signal.reason as Error)
      if (signal.aborted) tell()
      else signal.addEventListener('abort', tell, { once: true })
      return () => signal.removeEventListener('abort', tell)
    },
  }
}
