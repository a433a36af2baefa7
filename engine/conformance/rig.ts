import { doesNotMatch, fail, ok } from 'node:assert/strict'
import { inspect } from 'node:util'
import { offersOf } from '../config/speaking.ts'
import type { Codecs } from '../config/speaking.ts'
import { validator } from '../config/validate.ts'
import type { Source } from '../config/source.ts'
import { BytesBody } from '../stream/body.ts'
import { ExchangeScope } from '../http/scope.ts'
import { GatewayError } from '../spec/error.ts'
import type { JsonObject } from '../spec/json.ts'
import type { Answer, Call, Offer, Provider } from '../spec/open-provider.ts'
import type { AnyProvider } from '../spec/provider.ts'
import type { Flow } from '../spec/source.ts'
import type { Host } from '../spec/host.ts'
import { scriptedUpstream } from './upstream.ts'
import type { Script, ScriptedUpstream } from './upstream.ts'

/** A provider type under test. */
export interface Subject {
  readonly plugin: AnyProvider
  /** Fields of its configuration, besides its address and its secrets. */
  readonly settings: JsonObject
  readonly codecs: Codecs
  /** A host with state of its own, the views of the services it uses, and a function that closes the state. */
  readonly host: () => { readonly host: Host; readonly services: object; close(): Promise<void> }
}

/** The key that may appear only in requests to the upstream. */
export const key = 'canary-key-2f9b51c07d'

const timeouts: Call['timeouts'] = { firstByte: 60_000, idle: 60_000, total: 120_000 }

/** A provider under test, with its own upstream. */
export class Rig {
  readonly #subject: Subject
  readonly upstream: ScriptedUpstream
  readonly #host: ReturnType<Subject['host']>

  private constructor(subject: Subject, upstream: ScriptedUpstream) {
    this.#subject = subject
    this.upstream = upstream
    this.#host = subject.host()
  }

  static async open(subject: Subject): Promise<Rig> {
    return new Rig(subject, await scriptedUpstream())
  }

  async close(): Promise<void> {
    await this.closeKept()
    await this.upstream.close()
  }

  /** Closes the values that the opened providers share. */
  closeKept(): Promise<void> {
    return this.#host.close()
  }

  get plugin(): AnyProvider {
    return this.#subject.plugin
  }

  open(more: JsonObject = {}): Provider {
    return this.openAt(this.upstream.url, more)
  }

  /** Opens the provider like the loader does: checks its configuration and fills in the defaults. */
  openAt(url: string, more: JsonObject = {}): Provider {
    const { host, services } = this.#host
    return this.plugin.open(completed(this.#subject, url, more), host, services)
  }

  get offers(): readonly Offer[] {
    const { plugin, codecs } = this.#subject
    return offersOf(plugin, triedWith(this.#subject), codecs)
  }

  /** The keys of `endpoint_base_urls`. */
  get movable(): readonly string[] {
    const { properties } = this.plugin.config as { properties: { endpoint_base_urls: { properties: object } } }
    return Object.keys(properties.endpoint_base_urls.properties)
  }

  /** A call in the first protocol that the provider offers. */
  call(more: Partial<Call> = {}): Call {
    const offer = this.offers.find(({ protocol }) => protocol !== undefined)
    return {
      operation: offer?.operation ?? 'generate',
      protocol: offer?.protocol ?? '',
      body: new BytesBody(Buffer.from('{"model":"m","text":"é"}')),
      contentType: 'application/json',
      stream: true,
      model: 'm',
      timeouts,
      scope: new ExchangeScope(),
      ...more,
    }
  }

  /** A call with these timeouts, in milliseconds, instead of long ones. */
  limited(limits: Partial<Call['timeouts']>): Call {
    return this.call({ timeouts: { ...timeouts, ...limits } })
  }

  async send(provider: Provider, call: Call = this.call()): Promise<Answer> {
    const sent = provider.send?.(call)
    ok(sent, 'a provider with a base_url sends')
    return sent
  }

  /** The provider's answer when the upstream follows `script`. */
  async answered(script: Script, call?: Call): Promise<Answer> {
    this.upstream.answer(script)
    return this.send(this.open(), call)
  }

  /** The error of `failing`, which must reveal no secret to clients or to the log. */
  async failure(failing: Promise<unknown>): Promise<GatewayError> {
    const error = await failing.then(
      () => fail('it should have failed'),
      (reason: unknown) => reason,
    )
    return this.harmless(error)
  }

  /** Asserts that `error` does not contain the key, and that clients do not see the address. */
  harmless(error: unknown): GatewayError {
    if (!(error instanceof GatewayError)) throw error
    ok(!inspect(error, { depth: 20, showHidden: true }).includes(key), 'the error shows the key')
    const shown = JSON.stringify([error.message, error.failure, error.facts])
    doesNotMatch(shown, /127\.0\.0\.1|https?:|ECONN|UND_ERR|HPE_/)
    ok(!shown.includes(new URL(this.upstream.url).port), 'the error shows the address')
    return error
  }
}

/** The settings for a trial opening, with an address at which nothing listens. */
export function triedWith(subject: Subject): JsonObject {
  return completed(subject, 'http://127.0.0.1:9', {})
}

/** The settings with an address, a key and the defaults, checked like the loader does. */
function completed({ plugin: { config, secrets = [] }, settings }: Subject, url: string, more: JsonObject): JsonObject {
  const { properties = {} } = config as { properties?: Readonly<Record<string, { readonly type?: unknown }>> }
  const has = (field: string) => Object.hasOwn(properties, field)
  const given = {
    ...settings,
    ...(has('base_url') ? { base_url: url } : {}),
    // A list of keys stands in the place of one.
    ...Object.fromEntries(secrets.filter((field) => properties[field]?.type === 'string').map((field) => [field, key])),
    ...more,
  }
  const report: Source['report'] = (path, code, message) => ({
    file: path.join('.'),
    line: 1,
    column: 1,
    code,
    message,
  })
  const source: Source = { file: '', value: given, missing: [], interpolated: () => false, report }
  const { value, diagnostics } = validator(config as object)(source, [], given)
  if (diagnostics.length > 0) throw new Error(diagnostics.map(({ file, message }) => `${file}: ${message}`).join('; '))
  return value as JsonObject
}

/** A reader that consumes a body. */
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
