import { once } from 'node:events'
import { request as ask } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'

const narrow = 'sk-narrow-0123456789abcdef0123456789abcdef'
const mib = 1024 * 1024

/** A route, a body that it takes, and bodies that it refuses with the place that is wrong. */
interface Endpoint {
  readonly path: string
  readonly dialect: 'openai' | 'anthropic'
  readonly body: { readonly [field: string]: unknown }
  readonly wrong: readonly (readonly [fields: object, place: string])[]
}

const message = { role: 'user', content: 'hello' }

const endpoints: readonly Endpoint[] = [
  {
    path: '/v1/chat/completions',
    dialect: 'openai',
    body: { model: 'echo', messages: [message] },
    wrong: [
      [{ model: 5 }, 'model'],
      [{ model: '' }, 'model'],
      [{ messages: undefined }, 'messages'],
      [{ messages: 'hello' }, 'messages'],
      [{ messages: [] }, 'messages'],
      [{ messages: [message, 'hello'] }, 'messages[1]'],
      [{ messages: [{ content: 'hello' }] }, 'messages[0].role'],
      [{ messages: [{ role: 'user', content: 5 }] }, 'messages[0].content'],
      [{ messages: [{ role: 'user', content: [{ type: 'text' }] }] }, 'messages[0].content[0].text'],
      [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].tool_call_id'],
      [
        { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }] },
        'messages[0].content[0].image_url.url',
      ],
      [{ temperature: 'hot' }, 'temperature'],
      [{ temperature: 3 }, 'temperature'],
      [{ stream: 'yes' }, 'stream'],
      [{ max_tokens: 0 }, 'max_tokens'],
      [{ max_completion_tokens: 1.5 }, 'max_completion_tokens'],
      [{ tools: [{ type: 'function' }] }, 'tools[0].function'],
      [{ tools: [{ type: 'function', function: { name: '' } }] }, 'tools[0].function.name'],
      [{ stop: [1] }, 'stop[0]'],
      [{ response_format: { type: 'json_schema' } }, 'response_format.json_schema'],
      [{ stream_options: { include_usage: 1 } }, 'stream_options.include_usage'],
    ],
  },
  {
    path: '/v1/messages',
    dialect: 'anthropic',
    body: { model: 'echo', max_tokens: 99, messages: [message] },
    wrong: [
      [{ model: 5 }, 'model'],
      [{ max_tokens: undefined }, 'max_tokens'],
      [{ max_tokens: 'many' }, 'max_tokens'],
      [{ messages: {} }, 'messages'],
      [{ messages: [message, null] }, 'messages[1]'],
      [{ messages: [{ role: 'robot', content: 'x' }] }, 'messages[0].role'],
      [{ messages: [{ role: 'user', content: 5 }] }, 'messages[0].content'],
      [{ messages: [{ role: 'user', content: [{ type: 'text' }] }] }, 'messages[0].content[0].text'],
      [{ messages: [{ role: 'user', content: [{ type: 'tool_result' }] }] }, 'messages[0].content[0].tool_use_id'],
      [{ system: [{ type: 'text' }] }, 'system[0].text'],
      [{ tools: [{ description: 'x' }] }, 'tools[0].name'],
      [{ tool_choice: 'auto' }, 'tool_choice'],
      [{ tool_choice: { type: 'tool' } }, 'tool_choice.name'],
      [{ thinking: { type: 'enabled' } }, 'thinking.budget_tokens'],
      [{ stop_sequences: 'x' }, 'stop_sequences'],
      [{ stream: 1 }, 'stream'],
    ],
  },
  {
    path: '/v1/messages/count_tokens',
    dialect: 'anthropic',
    body: { model: 'echo', messages: [message] },
    wrong: [
      [{ messages: undefined }, 'messages'],
      [{ messages: [{ role: 'user' }] }, 'messages[0].content'],
    ],
  },
  {
    path: '/v1/embeddings',
    dialect: 'openai',
    body: { model: 'echo', input: 'hello' },
    wrong: [
      [{ input: undefined }, 'input'],
      [{ input: 5 }, 'input'],
      [{ input: [true] }, 'input[0]'],
      [{ dimensions: 0 }, 'dimensions'],
      [{ encoding_format: 7 }, 'encoding_format'],
    ],
  },
  {
    path: '/v1/images/generations',
    dialect: 'openai',
    body: { model: 'echo', prompt: 'hello' },
    wrong: [
      [{ prompt: 5 }, 'prompt'],
      [{ n: 'two' }, 'n'],
    ],
  },
  {
    path: '/v1/audio/speech',
    dialect: 'openai',
    body: { model: 'echo', input: 'hello', voice: 'alloy' },
    wrong: [
      [{ voice: undefined }, 'voice'],
      [{ input: {} }, 'input'],
      [{ stream_format: 'mp3' }, 'stream_format'],
    ],
  },
]

const forms = ['/v1/audio/transcriptions', '/v1/audio/translations']

/** What a status is called in each dialect. */
const types: Record<Endpoint['dialect'], Record<number, string>> = {
  openai: {},
  anthropic: { 401: 'authentication_error', 403: 'permission_error', 404: 'not_found_error', 413: 'request_too_large' },
}

describe('bad input', () => {
  let gateway: RunningGateway
  before(async () => {
    gateway = await startGateway({
      providers: [{ name: 'echo', type: 'echo' }],
      models: [
        { name: 'echo', provider: 'echo' },
        { name: 'other', provider: 'echo' },
      ],
      api_keys: [{ name: 'narrow', key: narrow, models: ['other'] }],
    })
  })
  after(async () => {
    const rows = await gateway.rows()
    expect(rows.length).to.be.above(100)
    expect(rows.filter(({ error, status }) => error === 'internal_error' || status === 500)).to.deep.equal([])
    expect(gateway.lines.filter((line) => /"level":(50|60)/.test(line))).to.deep.equal([])
    await gateway.close()
  })

  afterEach('the gateway is as well as before', async () => {
    expect((await fetch(`${gateway.url}/api/health`)).status).to.equal(200)
    const plain: Record<string, unknown> = {}
    for (const name of ['polluted', 'model', 'messages']) expect(plain[name]).to.equal(undefined)
    expect(Object.keys(Object.prototype)).to.deep.equal([])
  })

  type Body = string | Uint8Array
  const send = (path: string, body: Body | undefined, headers: Record<string, string> = {}, method = 'POST') =>
    fetch(gateway.url + path, {
      method,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}`, ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : new Uint8Array(body) }),
    })

  /** The error of a response, once its shape and its ids are proven to be those of the dialect. */
  const errorIn = async (response: Response, status: number, dialect: Endpoint['dialect']) => {
    const body = (await response.json()) as Record<string, unknown>
    expect(response.status, JSON.stringify(body)).to.equal(status)
    expect(response.headers.get('content-type')).to.equal('application/json')
    const id = response.headers.get('x-request-id')
    expect(id).to.match(/^[0-9a-f-]{36}$/)
    const error = body['error'] as { type: string; message: string; param?: string | null; code?: string | null }
    expect(error.message).to.be.a('string').and.not.equal('')
    const type = types[dialect][status] ?? 'invalid_request_error'
    expect(error.type).to.equal(type)
    if (dialect === 'openai') {
      expect(Object.keys(body)).to.deep.equal(['error'])
      expect(Object.keys(error)).to.deep.equal(['message', 'type', 'param', 'code'])
      return error
    }
    expect(Object.keys(body)).to.deep.equal(['type', 'error', 'request_id'])
    expect(body).to.include({ type: 'error', request_id: id })
    expect(Object.keys(error)).to.deep.equal(['type', 'message'])
    expect(response.headers.get('request-id')).to.equal(id)
    return error
  }

  for (const { path, dialect, body, wrong } of endpoints) {
    describe(`at ${path}`, () => {
      const good = JSON.stringify(body)
      const refused = async (given: Body | undefined, status: number, headers?: Record<string, string>) =>
        errorIn(await send(path, given, headers), status, dialect)

      it('401 without a key, with an unknown one, and with one in the wrong place', async () => {
        for (const headers of [
          { authorization: '' },
          { authorization: 'Bearer' },
          { authorization: 'Bearer sk-unknown' },
          { authorization: `Basic ${gateway.key}` },
          { authorization: '', 'x-api-key': 'sk-unknown' },
          { authorization: `Bearer ${gateway.key.toUpperCase()}` },
        ]) {
          const { code } = await refused(good, 401, headers)
          if (dialect === 'openai') expect(code).to.equal('invalid_api_key')
        }
        await errorIn(await send(`${path}?key=${gateway.key}`, good, { authorization: '' }), 401, dialect)
      })

      it('403 for a model that the key may not use', async () => {
        const error = await refused(good, 403, { authorization: `Bearer ${narrow}` })
        if (dialect === 'openai') expect(error).to.include({ code: 'model_not_allowed', param: 'model' })
      })

      it('404 for a model that does not exist, whatever its name', async () => {
        const names = [
          'nothing',
          '__proto__',
          'constructor',
          'toString',
          'hasOwnProperty',
          'echo/',
          '\ud800',
          '🦥',
          ' echo',
        ]
        for (const model of names) {
          const error = await refused(JSON.stringify({ ...body, model }), 404)
          if (dialect === 'openai') expect(error).to.include({ code: 'model_not_found', param: 'model' })
        }
        const long = await refused(JSON.stringify({ ...body, model: 'x'.repeat(10_000) }), 404)
        expect(long.message.length).to.be.below(300)
      })

      it('413 before the body is read', async () => {
        const call = ask(gateway.url + path, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            authorization: `Bearer ${gateway.key}`,
            'content-length': 65 * mib,
          },
        })
        call.on('error', () => undefined)
        call.write('{')
        const [answer] = (await once(call, 'response')) as [IncomingMessage]
        const told = await text(answer)
        call.destroy()
        const response = new Response(told, {
          status: answer.statusCode ?? 0,
          headers: answer.headers as Record<string, string>,
        })
        const { message: said } = await errorIn(response, 413, dialect)
        expect(said).to.include(String(64 * mib))
      })

      it('415 for a form and for a compressed body', async () => {
        await refused(good, 415, { 'content-type': 'multipart/form-data; boundary=x' })
        for (const encoding of ['gzip', 'br', 'deflate', 'x'])
          await refused(gzipSync(good), 415, { 'content-encoding': encoding })
        expect((await send(path, good, { 'content-encoding': 'identity' })).status).to.be.oneOf([200, 400])
      })

      it('400 for what is not one JSON object', async () => {
        const bodies: readonly Body[] = [
          '',
          '{',
          '{"model":',
          `${good}x`,
          `${good}${good}`,
          'nothing',
          'null',
          '[]',
          `[${good}]`,
          '"text"',
          '5',
          'NaN',
          '{model:1}',
          "{'model':'echo'}",
          `{"model":"echo",}`,
          `\ufeff${good}`,
          '\0',
          Buffer.concat([
            Buffer.from(good.slice(0, -1)),
            Buffer.from(',"x":"'),
            Buffer.from([0xff, 0xfe]),
            Buffer.from('"}'),
          ]),
          Buffer.concat([
            Buffer.from(good.slice(0, -1)),
            Buffer.from(',"x":"'),
            Buffer.from([0xed, 0xa0, 0x80]),
            Buffer.from('"}'),
          ]),
          Buffer.from(good, 'utf16le'),
        ]
        for (const given of bodies) {
          const { message: said, code } = await refused(given, 400)
          expect(said).not.to.match(/hello|position|token|unexpected/i)
          if (dialect === 'openai') expect(code).to.be.oneOf(['invalid_json', 'invalid_request'])
        }
      })

      it('400 for what is nested too deep', async () => {
        const bombs = [
          `${good.slice(0, -1)},"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
          `${good.slice(0, -1)},"x":${'{"x":'.repeat(100_000)}1${'}'.repeat(100_000)}}`,
          '['.repeat(1_000_000),
        ]
        for (const bomb of bombs) expect((await refused(bomb, 400)).message).to.match(/nested|deeper/)
      })

      it('400 for a model that is named twice', async () => {
        for (const second of ['"model"', String.raw`"mod\u0065l"`]) {
          const error = await refused(`${good.slice(0, -1)},${second}:"other"}`, 400)
          if (dialect === 'openai') expect(error.param).to.equal('model')
        }
      })

      it('400 for wrong types, naming the place', async () => {
        for (const [fields, place] of wrong) {
          const error = await refused(JSON.stringify({ ...body, ...fields }), 400)
          expect(error.message).to.include(place)
          if (dialect === 'openai')
            expect([JSON.stringify(fields), error.param]).to.deep.equal([JSON.stringify(fields), place])
        }
      })

      it('keys that objects are born with are keys like any other', async () => {
        const evil = [
          '"__proto__":{"polluted":true,"model":"nothing","messages":5}',
          '"constructor":{"prototype":{"polluted":true}}',
          '"toString":1,"hasOwnProperty":2,"valueOf":null',
          '"metadata":{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
        ]
        const plain = (await send(path, good)).status
        for (const extra of evil) {
          const response = await send(path, `{${extra},${good.slice(1)}`)
          expect(response.status, await response.text()).to.equal(plain)
        }
        const { message: said } = await refused('{"__proto__":{"model":"echo"}}', 400)
        expect(said).to.include('model')
      })

      it('lone surrogates go through', async () => {
        const response = await send(path, good.replace('hello', String.raw`\ud800 \udc00 \ud83d`))
        expect(response.status).to.equal((await send(path, good)).status)
      })
    })
  }

  it('400 for numbers beyond all numbers', async () => {
    const chat = (extra: string) =>
      send('/v1/chat/completions', `{"model":"echo","messages":[{"role":"user","content":"x"}],${extra}}`)
    for (const name of ['temperature', 'seed', 'max_tokens', 'max_completion_tokens', 'top_k', 'n']) {
      const error = await errorIn(await chat(`"${name}":1e400`), 400, 'openai')
      expect(error.param).to.equal(name)
    }
    const messages = `{"model":"echo","messages":[{"role":"user","content":"x"}],"max_tokens":1e400}`
    expect((await errorIn(await send('/v1/messages', messages), 400, 'anthropic')).message).to.include('max_tokens')
  })

  for (const path of forms) {
    describe(`at ${path}`, () => {
      const type = { 'content-type': 'multipart/form-data; boundary=x' }
      const part = (name: string, content: string, more = '') =>
        `--x\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n${content}\r\n`
      const file = part('file', 'bytes', '; filename="a.mp3"')

      it('415 for what is no form', async () => {
        await errorIn(await send(path, '{"model":"echo"}'), 415, 'openai')
      })

      it('400 for a form that lacks something, has it twice, or has no end', async () => {
        const bodies: [string, string | null][] = [
          ['', null],
          [part('model', 'echo'), null],
          [`${file}--x--`, 'model'],
          [`${part('model', 'echo')}--x--`, 'file'],
          [`${part('model', 'echo')}${part('model', 'other')}${file}--x--`, 'model'],
          [`${part('model', 'echo')}${part('file', 'bytes')}--x--`, 'file'],
          [`${part('__proto__', 'polluted')}${file}--x--`, 'model'],
        ]
        for (const [body, param] of bodies) {
          const error = await errorIn(await send(path, body, type), 400, 'openai')
          expect(error.param, body).to.equal(param)
        }
        await errorIn(await send(path, 'x', { 'content-type': 'multipart/form-data' }), 400, 'openai')
      })

      it('404 for a model that does not exist, and 401 without a key', async () => {
        const body = `${part('model', '__proto__')}${file}--x--`
        expect(await errorIn(await send(path, body, type), 404, 'openai')).to.include({ code: 'model_not_found' })
        await errorIn(await send(path, body, { ...type, authorization: '' }), 401, 'openai')
      })
    })
  }

  describe('at a path that nothing is served at', () => {
    const unknown: readonly [string, Endpoint['dialect']][] = [
      ['/v1/nothing', 'openai'],
      ['/nothing', 'openai'],
      ['/v1/chat/completions/more', 'openai'],
      ['/v1/messages/more', 'anthropic'],
      ['/v1/messages/count_tokens/more', 'anthropic'],
      ['/v1/chat/completions//', 'openai'],
      ['/V1/CHAT/COMPLETIONS', 'openai'],
      ['/v1/__proto__', 'openai'],
      ['/%00', 'openai'],
      ['/%zz', 'openai'],
    ]
    for (const [path, dialect] of unknown) {
      it(`404 at ${path}`, async () => {
        const error = await errorIn(await send(path, '{}'), 404, dialect)
        if (dialect === 'openai') expect(error.code).to.equal('not_found')
      })
    }

    it('404 as the client reads it that says who it is', async () => {
      await errorIn(await send('/v1/nothing', '{}', { 'anthropic-version': '2026-10-21' }), 404, 'anthropic')
    })

    it('405 for another method, with those that are served', async () => {
      for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
        const response = await send('/v1/messages', undefined, {}, method)
        expect(response.headers.get('allow')).to.equal('POST')
        await errorIn(response, 405, 'anthropic')
        const chat = await send('/v1/chat/completions', undefined, {}, method)
        expect(await errorIn(chat, 405, 'openai')).to.include({ code: 'method_not_allowed' })
      }
      await errorIn(await send('/v1/models', '{}'), 405, 'openai')
    })

    it('models: 401 and 404 as each client reads them', async () => {
      for (const path of ['/v1/models', '/v1/models/echo', '/v1/protocols'])
        await errorIn(await send(path, undefined, { authorization: '' }, 'GET'), 401, 'openai')
      const anthropic = { 'anthropic-version': '2023-06-01' }
      await errorIn(await send('/v1/models', undefined, { ...anthropic, authorization: '' }, 'GET'), 401, 'anthropic')
      await errorIn(await send('/v1/models/nothing', undefined, anthropic, 'GET'), 404, 'anthropic')
      for (const name of ['nothing', '__proto__', '%E0%A4%A', '%00'])
        expect((await send(`/v1/models/${name}`, undefined, {}, 'GET')).status, name).to.be.oneOf([400, 404])
    })
  })
})
