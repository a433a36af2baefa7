import type { AnyClientCodec, AnyUpstreamCodec, EitherCodec } from '../spec/codec.ts'
import type { JsonObject } from '../spec/json.ts'
import type { ErrorParser } from '../spec/error.ts'
import type { AnyProvider } from '../spec/provider.ts'
import type { Offer } from '../spec/open-provider.ts'
import { didYouMean } from './suggest.ts'

/** Codecs by protocol. */
export type Codecs = ReadonlyMap<string, EitherCodec>

/** Whether the codec has a client side. */
export function speaksToClients(codec: EitherCodec): codec is AnyClientCodec {
  return 'head' in codec
}

/** Whether the codec has an upstream side. */
export function speaksToUpstreams(codec: EitherCodec): codec is AnyUpstreamCodec {
  return (codec.error as Partial<ErrorParser>).parse !== undefined
}

/** The client codec of a protocol. Throws an `Error` with the reason if there is none. */
export function clientCodec(codecs: Codecs, protocol: string): AnyClientCodec {
  const codec = codecs.get(protocol)
  if (codec && speaksToClients(codec)) return codec
  throw new Error(nobodySpeaks(codecs, protocol, speaksToClients, 'clients'))
}

/** The upstream codec of a protocol. Throws an `Error` with the reason if there is none. */
export function upstreamCodec(codecs: Codecs, protocol: string): AnyUpstreamCodec {
  const codec = codecs.get(protocol)
  if (codec && speaksToUpstreams(codec)) return codec
  throw new Error(nobodySpeaks(codecs, protocol, speaksToUpstreams, 'upstreams'))
}

/** The protocols with a client codec. */
export function clientProtocols(codecs: Codecs): string[] {
  return [...codecs.values()].filter(speaksToClients).map(({ protocol }) => protocol)
}

/** The offers of a provider with its settings. Throws an `Error` for a protocol without an upstream codec. */
export function offersOf(type: AnyProvider, config: JsonObject, codecs: Codecs): readonly Offer[] {
  return type
    .offers(config)
    .map((offer) =>
      offer.protocol === undefined
        ? (offer as Offer)
        : { operation: upstreamCodec(codecs, offer.protocol).operation, ...offer },
    )
}

function nobodySpeaks(codecs: Codecs, protocol: string, speaks: (codec: EitherCodec) => boolean, whom: string): string {
  if (codecs.has(protocol)) return `"${protocol}" is not spoken to ${whom}`
  const known = [...codecs.values()].filter(speaks).map((codec) => codec.protocol)
  return `no codec speaks "${protocol}"${didYouMean(protocol, known)}`
}
