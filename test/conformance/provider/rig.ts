import { inspect } from 'node:util'
import { expect } from 'chai'
import { GatewayError } from '../../../engine/index.ts'
import type { Answer, AnyProvider, Call, Flow, JsonObject, Provider } from '../../../engine/index.ts'
import { ExchangeScope } from '../../../engine/http/scope.ts'
import { openProvider, testHost } from '../../support/host.ts'
import type { TestHost } from '../../support/host.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { Script, ScriptedUpstream } from '../../support/upstream.ts'

/** A provider over HTTP, and how it is set up against an upstream: a base address of `baseUrl`, the key `key`. */
export interface HttpProvider {
  readonly plugin: AnyProvider
  readonly config: (baseUrl: string, key: string) => JsonObject
}

/** The key that must be seen nowhere but in the requests to the upstream. */
export const key = 'canary-key-2f9b51c07d'

const timeouts: Call['timeouts'] = { firstByte: 5_000, idle: 5_000, total: 9_000 }

/** A provider under test with an upstream of its own. */
export class Rig {
  readonly #provider: HttpProvider
  upstream!: ScriptedUpstream
  host!: TestHost

  constructor(provider: HttpProvider) {
    this.#provider = provider
  }

  async start(): Promise<void> {
    this.upstream = await scriptedUpstream()
    this.host = testHost()
  }

  async stop(): Promise<void> {
    await this.host.closeKept()
    await this.upstream.close()
  }

  open(more: JsonObject = {}): Provider {
    return this.openAt(this.upstream.url, more)
  }

  openAt(url: string, more: JsonObject = {}): Provider {
    const { plugin, config } = this.#provider
    return openProvider(plugin, { ...config(url, key), ...more }, this.host)
  }

  /** The words of `endpoint_base_urls`. */
  get movable(): readonly string[] {
    const { properties } = this.#provider.plugin.config as {
      properties: { endpoint_base_urls: { properties: object } }
    }
    return Object.keys(properties.endpoint_base_urls.properties)
  }

  /** A call in the first protocol that the provider offers. */
  call(more: Partial<Call> = {}): Call {
    const { plugin, config } = this.#provider
    const offer = plugin.offers(config(this.upstream.url, key)).find(({ protocol }) => protocol !== undefined)
    return {
      operation: offer?.operation ?? 'generate',
      protocol: offer?.protocol ?? '',
      body: Buffer.from('{"model":"m","text":"é"}'),
      contentType: 'application/json',
      stream: true,
      model: 'm',
      timeouts,
      scope: new ExchangeScope(),
      ...more,
    }
  }

  /** A call with these limits instead of long ones, in milliseconds. */
  limited(limits: Partial<Call['timeouts']>): Call {
    return this.call({ timeouts: { ...timeouts, ...limits } })
  }

  async send(provider: Provider, call: Call = this.call()): Promise<Answer> {
    if (!provider.send) throw new Error('a provider over HTTP sends')
    return provider.send(call)
  }

  /** The provider's answer when the upstream follows `script`. */
  async answered(script: Script, call?: Call): Promise<Answer> {
    this.upstream.answer(script)
    return this.send(this.open(), call)
  }

  /** The failure of `failing`, which must tell neither a client nor a log what is secret. */
  async failure(failing: Promise<unknown>): Promise<GatewayError> {
    const error = await failing.then(
      () => expect.fail('it should have failed'),
      (reason: unknown) => reason,
    )
    return this.harmless(error)
  }

  /** Asserts that `error` shows the key to nobody and the address to no client. */
  harmless(error: unknown): GatewayError {
    if (!(error instanceof GatewayError)) throw error
    expect(inspect(error, { depth: 20, showHidden: true })).not.to.include(key)
    const shown = JSON.stringify([error.message, error.failure, error.facts])
    expect(shown).not.to.match(/127\.0\.0\.1|https?:|ECONN|UND_ERR|HPE_/)
    expect(shown).not.to.include(new URL(this.upstream.url).port)
    return error
  }
}

/** A reader that takes what comes. */
export interface Reader {
  readonly flow: Flow
  readonly size: number
  /** The first 10,000 bytes. */
  readonly text: string
  readonly error: Error | undefined
  /** Resolves with the first bytes. */
  readonly some: Promise<void>
  /** Resolves when the body ended or failed. */
  readonly over: Promise<void>
}

export function reading({ body }: Answer): Reader {
  const some = Promise.withResolvers<void>()
  const over = Promise.withResolvers<void>()
  let size = 0
  let text = ''
  let error: Error | undefined
  const flow = body.open({
    data(chunk) {
      size += chunk.length
      if (text.length < 10_000) text += Buffer.from(chunk).toString()
      some.resolve()
    },
    end: over.resolve,
    fail(reason) {
      error = reason
      over.resolve()
    },
  })
  return {
    flow,
    get size() {
      return size
    },
    get text() {
      return text
    },
    get error() {
      return error
    },
    some: some.promise,
    over: over.promise,
  }
}

/** Zeros in pieces of `size` bytes. */
export function* zeros(total: number, size = 64 * 1024): Generator<Uint8Array> {
  const chunk = Buffer.alloc(size)
  for (let sent = 0; sent < total; sent += size) yield chunk
}
