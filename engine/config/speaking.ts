import type { AnyClientCodec, AnyUpstreamCodec, EitherCodec } from '../spec/codec.ts'
import type { JsonObject } from '../spec/json.ts'
import type { ErrorParser } from '../spec/error.ts'
import type { AnyProvider } from '../spec/provider.ts'
import type { Offer } from '../spec/open-provider.ts'
import { didYouMean } from './suggest.ts'

/** Codecs by protocol. */
export type Codecs = ReadonlyMap<string, EitherCodec>

/** Whether clients can speak its protocol. */
export function speaksToClients(codec: EitherCodec): codec is AnyClientCodec {
  return 'head' in codec
}

/** Whether upstreams can be asked in its protocol. */
export function speaksToUpstreams(codec: EitherCodec): codec is AnyUpstreamCodec {
  return (codec.error as Partial<ErrorParser>).parse !== undefined
}

/** The codec of a protocol that clients speak. Throws an `Error` that says what is wrong with the name. */
export function clientCodec(codecs: Codecs, protocol: string): AnyClientCodec {
  const codec = codecs.get(protocol)
  if (codec && speaksToClients(codec)) return codec
  throw new Error(nobodySpeaks(codecs, protocol, speaksToClients, 'clients'))
}

/** The codec of a protocol that upstreams speak. Throws an `Error` that says what is wrong with the name. */
export function upstreamCodec(codecs: Codecs, protocol: string): AnyUpstreamCodec {
  const codec = codecs.get(protocol)
  if (codec && speaksToUpstreams(codec)) return codec
  throw new Error(nobodySpeaks(codecs, protocol, speaksToUpstreams, 'upstreams'))
}

/** The protocols that some codec speaks to clients. */
export function clientProtocols(codecs: Codecs): string[] {
  return [...codecs.values()].filter(speaksToClients).map(({ protocol }) => protocol)
}

/** What a provider can be asked with its settings. Throws an `Error` where it offers a protocol that no codec speaks to upstreams. */
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
