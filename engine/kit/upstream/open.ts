import { hash } from 'node:crypto'
import { speaksToUpstreams } from '../../config/speaking.ts'
import type { UpstreamAddress } from '../../spec/codec.ts'
import { duration } from '../../spec/duration.ts'
import { GatewayError, Refusal } from '../../spec/error.ts'
import type { Call, Dial, Provider } from '../../spec/open-provider.ts'
import type { Host } from '../../spec/host.ts'
import { answerHold } from '../../stream/byte-budget.ts'
import { addressOf, refuseFullAddress } from './address.ts'
import type { Addresses } from './address.ts'
import { headerLines, traceLines } from './headers.ts'
import { openHttp } from './http.ts'
import { openSockets } from './sockets.ts'
import { KeyPool } from './key-pool.ts'
import { modelNames } from './model-list.ts'
import type { ModelList } from './model-list.ts'
import type { HttpSettings, Target } from './http.ts'

/** Settings of a provider over HTTP: those of `upstreamProperties`, and its addresses. */
export interface UpstreamSettings extends Addresses, HttpSettings {
  readonly headers?: { readonly [name: string]: unknown } | undefined
  readonly api_key?: string | undefined
  readonly api_keys?: readonly string[] | undefined
}

/** The headers that carry a key. */
export type Credential = (key: string) => Readonly<Record<string, string>>

/** The parts in which types of HTTP providers differ. */
export interface UpstreamParts {
  /** Protocols that the provider speaks; their codecs know the paths. */
  readonly protocols: readonly string[]
  /** Headers of its own. They are sent to the configured addresses only. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * How a key of the settings (`api_key`, or one of `api_keys` in turn) is sent, to the configured addresses only: as a
   * bearer token, or in headers of its own. Absent: it is not sent.
   */
  readonly credential?: 'bearer' | Credential
  /** Header lines that depend on the call: names and values in turn. */
  readonly perCall?: (call: Call) => readonly string[]
  /** Header lines that depend on the call for a socket. */
  readonly perDial?: (call: Dial) => readonly string[]
  /** Its lists of models; absent: it has none. */
  readonly models?: readonly ModelList[]
  /** Header lines that depend on the address of a list. */
  readonly perList?: (url: URL) => Promise<readonly string[]>
}

/** Opens a provider over HTTP. Throws a `Refusal` or an `Error` for settings that cannot be used. */
export function openUpstream(
  settings: UpstreamSettings,
  host: Host,
  { protocols, headers = {}, credential: given, perCall, perDial, models, perList }: UpstreamParts,
): Provider & Required<Pick<Provider, 'send'>> {
  const listed = (models ?? []).map(({ path }) => path)
  refuseFullAddress(
    settings.base_url,
    [...servedPaths(host), ...listed].map((path) => path.replace(/\?.*/, '')),
  )
  const http = openHttp(settings, host)
  const own = { 'user-agent': `sluice/${host.version}`, accept: '*/*', ...headers }
  const { api_key: key, api_keys: keys = [] } = settings
  const credential = given === 'bearer' ? bearer : given
  if (key !== undefined && keys.length > 0) throw new Refusal('api_key and api_keys exclude each other', ['api_keys'])
  if (keys.length > 0 && !credential) throw new Refusal('this type of provider takes one api_key', ['api_keys'])
  const pool = credential && keys.length > 0 ? openPool(keys, credential, host) : undefined
  const lines = headerLines({ ...own, ...(key === undefined ? {} : credential?.(key)) }, settings.headers)
  const addresses = protocols.map((protocol) => {
    const { address } = host.upstreamCodec(protocol)
    if (!address) throw new Error(`its codec does not say where "${protocol}" is served`)
    return { protocol, address }
  })
  const targets = new Map(
    addresses
      .filter(({ address }) => !address.socket)
      .map(({ protocol, address }) => [
        protocol,
        targetOf(settings, protocol, address, (url) => http.target(url, lines)),
      ]),
  )
  const sockets = addresses.filter(({ address }) => address.socket)
  const dial = sockets.length === 0 ? undefined : openSockets(settings, host, { sockets, lines, pool, perDial })
  const linesOf = (call: Call) =>
    call.trace ? [...(perCall?.(call) ?? []), ...traceLines(call.trace)] : perCall?.(call)
  const prefix = addresses[0]?.address.prefix
  const lists = models?.map((list) => {
    const base = { ...settings, ...(list.base_url === undefined ? {} : { base_url: list.base_url }) }
    const url = addressOf(base, 'models', list.path, prefix)
    return { ...list, url, target: http.target(url, lines) }
  })
  return {
    send(call) {
      const target = targets.get(call.protocol)?.(call)
      if (target && pool)
        return pool.send((own, key) => {
          call.scope.call?.tell({ key })
          return http.post(target, call, [...own, ...(linesOf(call) ?? [])])
        }, call.once)
      if (target) return http.post(target, call, linesOf(call))
      const reason = targets.has(call.protocol)
        ? 'its name cannot be part of a URL'
        : `its provider does not serve ${call.protocol}`
      return Promise.reject(new GatewayError('invalid_request_error', { model: call.publicName ?? call.model, reason }))
    },
    ...(lists === undefined
      ? {}
      : { models: (signal) => modelNames({ http, pool, lists, perList }, signal, answerHold(host)) }),
    ...(dial === undefined ? {} : { dial }),
    ...(pool === undefined ? {} : { cooling: () => pool.cooling() }),
  }
}

function bearer(key: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${key}` }
}

/** The pool outlives a reload, so that keys go on resting. */
function openPool(keys: readonly string[], credential: Credential, host: Host): KeyPool {
  const { cooldown } = host.catalog.settings.resilience
  const lines = (key: string) => headerLines(credential(key))
  const name = hash('sha256', JSON.stringify(keys.map(lines)))
  return host.keep(
    `keys of ${host.pipeline.name} ${name} cooldown=${cooldown}`,
    () => new KeyPool(keys, lines, duration(cooldown)),
  )
}

/** The paths of all codecs' operations below a base address. */
function servedPaths({ codecs }: Host): string[] {
  return codecs.flatMap((codec) => {
    const { path = '', streamed = path, below = '' } = (speaksToUpstreams(codec) && codec.address) || {}
    return [path, streamed, ...(below === '' ? [] : [path + below])].filter((one) => one !== '')
  })
}

/** How `{model}` appears in a parsed address. */
const placeholder = '%7Bmodel%7D'

/** The target of a call; undefined for a model whose name would change the address. */
function targetOf(
  settings: Addresses,
  protocol: string,
  { key = protocol, prefix, path, streamed = path, below = '' }: UpstreamAddress,
  open: (url: URL) => Target,
): (call: Pick<Call, 'stream' | 'model'>) => Target | undefined {
  const at = (one: string) => {
    const url = addressOf(settings, key, one, prefix)
    url.pathname += below
    return open(url)
  }
  const whole = at(path)
  const stream = streamed === path ? whole : at(streamed)
  if (![whole, stream].some((target) => target.path.includes(placeholder)))
    return stream === whole ? () => whole : (call) => (call.stream ? stream : whole)
  return (call) => {
    const target = call.stream ? stream : whole
    // A URL parser would resolve the dots as path segments; a lone surrogate cannot be encoded.
    if (call.model === '.' || call.model === '..' || !call.model.isWellFormed()) return undefined
    return { ...target, path: target.path.replace(placeholder, encodeURIComponent(call.model)) }
  }
}
