import { expect } from 'chai'
import * as fc from 'fast-check'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'

const boundary = 'the-boundary'
const type = `multipart/form-data; boundary=${boundary}`
const upstreamName = 'a-much-longer-name-2026'

interface Part {
  readonly headers: readonly string[]
  readonly content: Buffer
}

const text = (name: string, content: string): Part => ({
  headers: [`Content-Disposition: form-data; name="${name}"`],
  content: Buffer.from(content),
})
const file = (content: Buffer | string, filename = 'a.mp3'): Part => ({
  headers: [`Content-Disposition: form-data; name="file"; filename="${filename}"`, 'Content-Type: audio/mpeg'],
  content: Buffer.from(content),
})
const bytesOf = (parts: readonly Part[], line = '\r\n', end = `--${boundary}--${line}`) =>
  Buffer.concat([
    ...parts.flatMap(({ headers, content }) => [
      Buffer.from(`--${boundary}${line}${headers.join(line)}${line}${line}`),
      content,
      Buffer.from(line),
    ]),
    Buffer.from(end),
  ])

describe('a form', function () {
  this.timeout(300_000)
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    upstream.answer({ body: { text: 'Hello' } })
    const far = { provider: 'far', upstream_model: upstreamName }
    gateway = await startGateway({
      providers: [{ name: 'far', type: 'native', base_url: upstream.url, api_key: 'key' }],
      models: [{ name: 'm', ...far }],
    })
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })

  const send = (body: Buffer | ReadableStream, contentType = type, path = '/v1/audio/transcriptions') =>
    fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': contentType },
      body: body instanceof Buffer ? new Uint8Array(body) : body,
      ...(body instanceof Buffer ? {} : { duplex: 'half' as const }),
    })
  /** The form in pieces, of which nobody told the length. */
  const chunked = (bytes: Buffer, size: number) =>
    new ReadableStream({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size)
          controller.enqueue(new Uint8Array(bytes.subarray(at, at + size)))
        controller.close()
      },
    })
  const refusal = async (body: Buffer, contentType?: string) => {
    const before = upstream.requests.length
    const answer = await send(body, contentType)
    const { error } = (await answer.json()) as { error: { message: string; type: string } }
    expect(Object.keys(error)).to.have.members(['message', 'type', 'param', 'code'])
    expect(upstream.requests, 'nobody is called').to.have.length(before)
    return { status: answer.status, ...error }
  }

  it('reaches the provider byte for byte but for the name of the model, wherever that stands and however it is sent', async () => {
    const line = fc.string({ unit: 'binary-ascii', maxLength: 60 }).map((value) => value.replaceAll(/[\r\n]/g, ' '))
    const others = fc.array(fc.tuple(fc.constantFrom('include[]', 'chunking_strategy[type]', 'own'), line), {
      maxLength: 6,
    })
    const content = fc.oneof(
      fc.uint8Array({ maxLength: 2_000 }).map((bytes) => Buffer.from(bytes)),
      fc
        .constantFrom('', '\r\n', '\r\n--', `x--${boundary}`, `\r\n--${boundary.slice(0, -1)}`, '\r\n\r\n')
        .map((bytes) => Buffer.from(bytes)),
      // One that is written to disk.
      fc.constant(Buffer.alloc(300 * 1024, '\r\n-')),
    )
    await fc.assert(
      fc.asyncProperty(
        others,
        content,
        fc.nat(7),
        fc.integer({ min: 7, max: 70_000 }),
        fc.boolean(),
        async (fields, sound, at, size, whole) => {
          const parts = [...fields.map(([name, value]) => text(name, value)), file(sound, 'a%20"é'.replace('"', '\\"'))]
          const named = (name: string) => bytesOf(parts.toSpliced(at, 0, text('model', name)))
          const sent = named('m')
          const answer = await send(whole ? sent : chunked(sent, Math.max(size, Math.ceil(sent.length / 200))))
          expect(answer.status, await answer.text()).to.equal(200)
          const got = upstream.requests.at(-1)
          const expected = named(upstreamName)
          expect(got?.body.equals(expected)).to.equal(true)
          expect(got?.headers['content-type']).to.equal(type)
          expect(got?.headers['content-length']).to.equal(String(expected.length))
          expect(got?.headers['transfer-encoding']).to.equal(undefined)
        },
      ),
      { numRuns: 60 },
    )
  })

  it('that is cut, mixed up or repeated anywhere never reaches the provider as something else', async () => {
    const good = bytesOf([text('model', 'm'), text('prompt', 'p'), file('some sound')])
    const edits = fc.oneof(
      fc.nat(good.length - 3).map((at) => good.subarray(0, at)),
      fc
        .tuple(
          fc.nat(good.length),
          fc.constantFrom('\n', '\r', '\0', ' ', '--', `\n--${boundary}`, `--${boundary}\r\n`),
        )
        .map(([at, added]) => Buffer.concat([good.subarray(0, at), Buffer.from(added), good.subarray(at)])),
      fc
        .tuple(fc.nat(good.length), fc.integer({ min: 1, max: 9 }))
        .map(([at, count]) => Buffer.concat([good.subarray(0, at), good.subarray(at + count)])),
    )
    await fc.assert(
      fc.asyncProperty(edits, async (bytes) => {
        const before = upstream.requests.length
        const answer = await send(bytes)
        await answer.bytes()
        if (answer.status !== 200) {
          expect(answer.status).to.be.oneOf([400, 404])
          expect(upstream.requests).to.have.length(before)
          return
        }
        // What was passed on is a form in which another reader finds the same model, or which it refuses.
        const { body, headers } = upstream.requests.at(-1) ?? {}
        const read = await new Response(new Uint8Array(body ?? Buffer.alloc(0)), {
          headers: { 'content-type': headers?.['content-type'] ?? '' },
        })
          .formData()
          .catch(() => undefined)
        if (!read) return
        expect(read.getAll('model')).to.deep.equal([upstreamName])
        expect(read.get('file')).to.be.instanceOf(File)
      }),
      { numRuns: 200 },
    )
  })

  const model = text('model', 'm')
  const sound = file('sound')
  const cases: readonly (readonly [what: string, bytes: Buffer, contentType?: string])[] = [
    ['a preamble', Buffer.concat([Buffer.from('hello\r\n'), bytesOf([model, sound])])],
    ['bare line feeds', bytesOf([model, sound], '\n')],
    [
      'a folded header',
      bytesOf([model, { ...sound, headers: ['Content-Disposition: form-data;\r\n name="file"; filename="a"'] }]),
    ],
    ['a doubled header', bytesOf([model, { ...sound, headers: [...sound.headers, ...sound.headers] }])],
    ['name*', bytesOf([sound, { ...model, headers: ["Content-Disposition: form-data; name*=utf-8''model"] }])],
    [
      'a transfer encoding',
      bytesOf([model, { ...sound, headers: [...sound.headers, 'Content-Transfer-Encoding: base64'] }]),
    ],
    [
      'more on a delimiter line',
      Buffer.from(bytesOf([model, sound]).toString().replace(`--${boundary}\r\n`, `--${boundary} x\r\n`)),
    ],
    ['101 parts', bytesOf([model, sound, ...Array.from({ length: 99 }, () => text('include[]', 'x'))])],
    [
      'headers of more than 8 KiB',
      bytesOf([model, { ...sound, headers: [...sound.headers, `X-A: ${'a'.repeat(8_192)}`] }]),
    ],
    ['a name of more than 100 bytes', bytesOf([model, sound, text('n'.repeat(101), 'x')])],
    ['a text of more than 1 MiB', bytesOf([model, sound, text('prompt', 'x'.repeat(1_048_577))])],
    [
      'texts of more than 8 MiB',
      bytesOf([model, sound, ...Array.from({ length: 9 }, () => text('own', 'x'.repeat(1_000_000)))]),
    ],
    ['no end', bytesOf([model, sound], '\r\n', '')],
    ['no boundary', bytesOf([model, sound]), 'multipart/form-data'],
    ['no model', bytesOf([sound])],
    ['a doubled model', bytesOf([model, sound, model])],
    ['a model beside a list of models', bytesOf([model, sound, text('model[]', 'other')])],
    ['a model in two spellings', bytesOf([model, sound, text('Model', 'm')])],
    ['an empty model', bytesOf([text('model', ''), sound])],
    ['a model of two lines', bytesOf([text('model', 'm\r\n'), sound])],
    ['a model that is no UTF-8', bytesOf([{ ...model, content: Buffer.from([0x6d, 0xff]) }, sound])],
    [
      'a model that is a file',
      bytesOf([sound, { ...sound, headers: ['Content-Disposition: form-data; name="model"; filename="m"'] }]),
    ],
    ['no file', bytesOf([model])],
    ['a file without a file name', bytesOf([model, text('file', 'sound')])],
  ]
  for (const [what, bytes, contentType] of cases)
    it(`with ${what} is a 400 before any call`, async () => {
      const { status, type: kind, message } = await refusal(bytes, contentType)
      expect([status, kind], message).to.deep.equal([400, 'invalid_request_error'])
    })

  it('that is no form is a 415, and so is a form where none is read', async () => {
    const json = Buffer.from(JSON.stringify({ model: 'm', file: 'x' }))
    expect(await refusal(json, 'application/json')).to.include({ status: 415, type: 'invalid_request_error' })
    for (const path of ['/v1/embeddings', '/v1/images/generations', '/v1/audio/speech'])
      expect((await send(bytesOf([model, sound]), type, path)).status, path).to.equal(415)
  })
})
