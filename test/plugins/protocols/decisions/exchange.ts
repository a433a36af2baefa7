import { GatewayError } from '../../../../engine/index.ts'
import { isObject } from '../../../../engine/kit.ts'
import type { AnyCodec, Asked, Host, Json, JsonObject, PrintTarget, Scope } from '../../../../engine/index.ts'
import validate from '../../../../plugins/translation/validate.ts'

/** A provider's model to print for; with `images`, its field for images. */
export function target(protocol: string, images?: string): PrintTarget {
  return {
    model: 'upstream-model',
    origin: 'gateway/upstream',
    offer: { operation: 'decide', protocol, ...(images === undefined ? {} : { traits: { images } }) },
    record: {
      name: 'model',
      provider: 'gateway',
      upstream_model: 'upstream-model',
      aliases: [],
      supports_images: true,
      supports_tools: false,
      supports_mapeval: true,
      supports_realtime: false,
      auto_eligible: false,
      fallbacks: [],
    },
  }
}

export function askedWith(body: Json): Asked {
  return { id: 'id', model: 'model', stream: false, body, origin: 'gateway/upstream' }
}

/** How the stage `validate` refuses a body in this protocol; undefined when it does not. */
export function refusal(codec: AnyCodec, body: unknown) {
  const host = { pipeline: { name: 'test', protocol: codec.protocol }, codec: () => codec } as unknown as Host
  const run = validate.build({ status: 422 }, host)
  try {
    void run({ request: { body } }, {} as Scope)
    return undefined
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    const { status, code, param, message, type } = error.failure
    return { status, code, param, message, type }
  }
}

/** A value as it arrives on the other side: without fields that are undefined. */
export function sent(value: unknown): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject
}

/** The objects of a list. */
export function listOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** What `read` throws, as code and message. */
export function thrown(read: () => unknown): { code: string; message: string; tags: readonly string[] } | undefined {
  try {
    read()
    return undefined
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    const { code, message, tags } = error
    return { code, message, tags }
  }
}
