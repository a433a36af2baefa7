import { dial } from '../dial.ts'
import type { UpstreamAddress } from '../../spec/codec.ts'
import { duration } from '../../spec/duration.ts'
import { GatewayError } from '../../spec/error.ts'
import type { Host } from '../../spec/host.ts'
import type { Dial, Provider } from '../../spec/open-provider.ts'
import { addressOf, serverAt } from './address.ts'
import type { Addresses } from './address.ts'
import type { HttpSettings } from './http.ts'
import { traceLines } from './headers.ts'
import type { KeyPool } from './key-pool.ts'

/** What the sockets of one provider have in common. */
interface SocketParts {
  readonly sockets: readonly { readonly protocol: string; readonly address: UpstreamAddress }[]
  /** Header lines of every request: names and values in turn. */
  readonly lines: readonly string[]
  /** The keys of a provider that has several. */
  readonly pool: KeyPool | undefined
  readonly perDial: ((call: Dial) => readonly string[]) | undefined
}

/**
 * Opens sockets at the addresses of a provider, with its keys and headers, within the bounds of its other
 * calls. The query of the call is added to that of the address. A time-out of the provider goes before that of the call.
 */
export function openSockets(
  settings: Addresses & Pick<HttpSettings, 'timeouts'>,
  host: Host,
  { sockets, lines, pool, perDial }: SocketParts,
): NonNullable<Provider['dial']> {
  const addresses = new Map(
    sockets.map(({ protocol, address: { key = protocol, prefix, path } }) => {
      const url = addressOf(overHttp(settings, key), key, path, prefix)
      host.bounds?.note?.(url)
      url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
      return [protocol, { url, error: host.upstreamCodec(protocol).error }]
    }),
  )
  return async (call) => {
    const model = call.publicName ?? call.model
    const found = addresses.get(call.protocol)
    if (found === undefined)
      throw new GatewayError('invalid_request_error', { model, reason: `its provider has no ${call.protocol}` })
    const url = new URL(found.url)
    for (const [name, value] of call.query) url.searchParams.append(name, value)
    const own = [...(perDial?.(call) ?? []), ...lines, ...(call.trace ? traceLines(call.trace) : [])]
    const { connect } = settings.timeouts ?? {}
    const timeout = connect === undefined ? call.timeout : duration(connect)
    const { scope } = call
    scope.call?.tell({ server: serverAt(url) })
    const open = (key: readonly string[] = [], index?: number) => {
      if (index !== undefined) scope.call?.tell({ key: index })
      return dial(
        {
          url,
          headers: headersOf([...own, ...key]),
          model,
          timeout,
          scope,
          ...(host.bounds && { reach: host.bounds.reach }),
          error: found.error,
        },
        host,
      )
    }
    return pool ? pool.open(open) : open()
  }
}

/** The same addresses, where that of the operation may also be written as the address of a socket. */
function overHttp(settings: Addresses, key: string): Addresses {
  const { endpoint_base_urls: moved = {} } = settings
  const own = moved[key]
  if (typeof own !== 'string') return settings
  return { ...settings, endpoint_base_urls: { ...moved, [key]: own.replace(/^ws(?=s?:\/\/)/, 'http') } }
}

function headersOf(lines: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (let at = 0; at < lines.length; at += 2) headers[lines[at] as string] = lines[at + 1] as string
  return headers
}
