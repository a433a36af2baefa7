import Anthropic from '@anthropic-ai/sdk'
import { expect } from 'chai'
import OpenAI from 'openai'
import { anthropic, openai } from '../support/clients.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { Script, ScriptedUpstream } from '../support/upstream.ts'

/** The gateway's key at the provider: nobody but the provider may ever see it. */
const canary = 'canary-sk-7f3e9a51c2d84b06'

const page = `<html><body><h1>Bad Gateway</h1>${canary}</body></html>`

/** An error as each kind of provider tells it; `told` quotes the key, as some do. */
const told = `No luck with ${canary} today`
const errors: Record<string, (type: string, code: string | null) => object> = {
  chat: (type, code) => ({ error: { message: told, type, param: null, code } }),
  responses: (type, code) => ({ error: { message: told, type, param: null, code } }),
  messages: (type) => ({ type: 'error', error: { type, message: told }, request_id: 'req_1' }),
}

interface Case {
  readonly name: string
  readonly script: (protocol: string) => Script
  readonly status: number
  readonly code: string | null
  /** How often the provider is asked: again only where it said that it had no room. Default 1. */
  readonly calls?: number
  /** The provider is one that is soon given up. */
  readonly hasty?: boolean
  /** The provider's own words are passed on. */
  readonly quoted?: boolean
  readonly retryAfter?: string
  readonly shouldRetry?: string
  /** Where clients of messages get another status. */
  readonly messagesStatus?: number
  readonly classes: readonly [openai: unknown, anthropic: unknown]
}

const failed = (status: number, type = 'invalid_request_error', code: string | null = null) => ({
  name: String(status),
  script: (protocol: string) => ({ status, body: JSON.parse(JSON.stringify(errors[protocol]?.(type, code))) as never }),
})
const broken = { status: 502, classes: [OpenAI.InternalServerError, Anthropic.InternalServerError] } as const
const unreadable = { ...broken, calls: 3, code: 'upstream_invalid_response' }

const cases: readonly Case[] = [
  {
    ...failed(400),
    status: 400,
    code: null,
    quoted: true,
    classes: [OpenAI.BadRequestError, Anthropic.BadRequestError],
  },
  {
    ...failed(401, 'authentication_error', 'invalid_api_key'),
    ...broken,
    code: 'upstream_refused_key',
    shouldRetry: 'false',
  },
  { ...failed(403, 'permission_error'), ...broken, code: 'upstream_refused_key', shouldRetry: 'false' },
  {
    ...failed(404, 'not_found_error', null),
    status: 404,
    code: null,
    quoted: true,
    classes: [OpenAI.NotFoundError, Anthropic.NotFoundError],
  },
  {
    ...failed(408),
    status: 504,
    code: 'upstream_timeout',
    classes: [OpenAI.InternalServerError, Anthropic.GatewayTimeoutError],
  },
  { ...failed(409), status: 409, code: null, quoted: true, classes: [OpenAI.ConflictError, Anthropic.ConflictError] },
  {
    ...failed(413, 'request_too_large'),
    status: 413,
    code: null,
    quoted: true,
    classes: [OpenAI.APIError, Anthropic.ContentTooLargeError],
  },
  {
    ...failed(422),
    status: 422,
    code: null,
    quoted: true,
    classes: [OpenAI.UnprocessableEntityError, Anthropic.UnprocessableEntityError],
  },
  {
    name: '429 with a time to wait',
    script: (protocol) => ({ ...failed(429, 'rate_limit_error').script(protocol), headers: { 'retry-after': '7' } }),
    status: 429,
    code: null,
    quoted: true,
    retryAfter: '7',
    classes: [OpenAI.RateLimitError, Anthropic.RateLimitError],
  },
  { ...failed(500, 'api_error'), ...broken, code: 'upstream_error', quoted: true },
  { ...failed(503, 'server_error'), ...broken, calls: 3, code: 'upstream_error', quoted: true },
  {
    ...failed(529, 'overloaded_error'),
    status: 503,
    messagesStatus: 529,
    calls: 3,
    code: 'overloaded',
    quoted: true,
    classes: [OpenAI.InternalServerError, Anthropic.InternalServerError],
  },
  {
    name: '500 with words for clients',
    script: (protocol) => ({
      ...failed(500).script(protocol),
      headers: { 'retry-after-ms': '2500', 'x-should-retry': 'false', 'x-ratelimit-remaining-requests': '7' },
    }),
    ...broken,
    code: 'upstream_error',
    quoted: true,
    retryAfter: '3',
    shouldRetry: 'false',
  },
  {
    ...failed(504, 'timeout_error'),
    status: 504,
    code: 'upstream_timeout',
    classes: [OpenAI.InternalServerError, Anthropic.GatewayTimeoutError],
  },
  {
    name: '400 with a page',
    script: () => ({ status: 400, body: page, headers: { 'content-type': 'text/html' } }),
    status: 400,
    code: null,
    classes: [OpenAI.BadRequestError, Anthropic.BadRequestError],
  },
  {
    name: '502 with a page',
    script: () => ({ status: 502, body: page, headers: { 'content-type': 'text/html' } }),
    ...broken,
    code: 'upstream_error',
  },
  { name: '500 with nothing', script: () => ({ status: 500 }), ...broken, code: 'upstream_error' },
  { name: '500 with a list', script: () => ({ status: 500, body: [canary] }), ...broken, code: 'upstream_error' },
  { name: '500 with a number', script: () => ({ status: 500, body: 5 }), ...broken, code: 'upstream_error' },
  { name: '200 with a page', script: () => ({ body: page, headers: { 'content-type': 'text/html' } }), ...unreadable },
  { name: '200 with nothing', script: () => ({ body: '' }), ...unreadable },
  {
    name: '200 with half a body',
    script: () => ({ body: '{"id":"1","choi', headers: { 'content-type': 'application/json' } }),
    ...unreadable,
  },
  { name: '200 with a list', script: () => ({ body: [] }), ...unreadable },
  { name: '200 with null', script: () => ({ body: null }), ...unreadable },
  { name: '200 with an empty stream', script: () => ({ frames: [] }), ...unreadable },
  {
    name: 'a redirect',
    script: () => ({ status: 302, headers: { location: `http://127.0.0.1:9/${canary}` }, body: '' }),
    ...unreadable,
  },
  {
    name: 'compressed bytes',
    script: () => ({ body: Buffer.from('x'), headers: { 'content-encoding': 'gzip' } }),
    ...unreadable,
  },
  { name: 'no HTTP', script: () => ({ raw: `SSH-2.0-${canary}\r\n\r\n`, ending: 'close' }), ...unreadable },
  {
    name: 'a closed connection',
    script: () => ({ raw: '', ending: 'close' }),
    ...broken,
    calls: 3,
    code: 'upstream_error',
  },
  {
    name: 'a reset connection',
    script: () => ({ raw: '', ending: 'reset' }),
    ...broken,
    calls: 3,
    code: 'upstream_error',
  },
  {
    name: 'silence',
    script: () => ({ silent: true }),
    hasty: true,
    status: 504,
    code: 'upstream_timeout',
    classes: [OpenAI.InternalServerError, Anthropic.GatewayTimeoutError],
  },
]

const anthropicTypes: Record<number, string> = {
  400: 'invalid_request_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  422: 'invalid_request_error',
  429: 'rate_limit_error',
  502: 'api_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

describe('a provider that fails', () => {
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    const at = { base_url: upstream.url, api_key: canary }
    const hasty = { ...at, timeouts: { first_byte: '60ms' } }
    const nowhere = { base_url: 'http://127.0.0.1:9', api_key: canary }
    gateway = await startGateway({
      server_config: { resilience: { retries: { wait: '1ms' }, breaker: { enabled: false } } },
      providers: [
        { name: 'family', type: 'compatible', ...at },
        { name: 'vendor', type: 'native', ...at },
        { name: 'other', type: 'messages', ...at },
        { name: 'hasty-family', type: 'compatible', ...hasty },
        { name: 'hasty-vendor', type: 'native', ...hasty },
        { name: 'hasty-other', type: 'messages', ...hasty },
        { name: 'gone', type: 'compatible', ...nowhere },
      ],
      models: [
        { name: 'chat', provider: 'family' },
        { name: 'responses', provider: 'vendor', protocols: ['responses'] },
        { name: 'messages', provider: 'other' },
        { name: 'hasty-chat', provider: 'hasty-family' },
        { name: 'hasty-responses', provider: 'hasty-vendor', protocols: ['responses'] },
        { name: 'hasty-messages', provider: 'hasty-other' },
        { name: 'gone', provider: 'gone' },
      ],
    })
  })
  after(async () => {
    expect(gateway.lines.filter((line) => line.includes(canary))).to.deep.equal([])
    expect(gateway.lines.filter((line) => /"level":(50|60)/.test(line))).to.deep.equal([])
    const rows = await gateway.rows()
    expect(JSON.stringify(rows)).not.to.include(canary)
    expect(rows.filter(({ status }) => status === 500)).to.deep.equal([])
    await gateway.close()
    await upstream.close()
  })

  const ask = (path: string, model: string, stream = false) =>
    gateway.post(path, { model, max_tokens: 99, stream, messages: [{ role: 'user', content: 'hello' }] })

  /** The error of a response, after a look at its shape. */
  const errorIn = async (response: Response, status: number, dialect: 'openai' | 'anthropic') => {
    const body = await response.text()
    expect(body + JSON.stringify([...response.headers])).not.to.include(canary)
    expect(response.status, body).to.equal(status)
    const { error, ...rest } = JSON.parse(body) as { error: Record<string, unknown>; [key: string]: unknown }
    const id = response.headers.get('x-request-id')
    if (dialect === 'openai')
      expect([rest, Object.keys(error)]).to.deep.equal([{}, ['message', 'type', 'param', 'code']])
    else expect([rest, error['type']]).to.deep.equal([{ type: 'error', request_id: id }, anthropicTypes[status]])
    expect(error['message']).to.be.a('string').and.not.equal('')
    expect(error['message']).not.to.match(/127\.0\.0\.1|<html|ECONN|UND_ERR|HPE_/)
    return error as { message: string; code?: string | null; type: string }
  }

  for (const protocol of ['chat', 'responses', 'messages'])
    for (const { name, script, status, code, quoted, retryAfter, shouldRetry, classes, ...rest } of cases)
      it(`${protocol}: ${name} is ${status}`, async () => {
        const { calls = 1, hasty = false, messagesStatus = status } = rest
        const words = (answer: Response) =>
          ['retry-after', 'x-should-retry', 'x-ratelimit-remaining-requests'].map((header) =>
            answer.headers.get(header),
          )
        const expected = [retryAfter ?? null, shouldRetry ?? null, null]
        const model = hasty ? `hasty-${protocol}` : protocol
        for (const stream of [false, true]) {
          upstream.answer(script(protocol))
          const asked = upstream.requests.length
          const chat = await ask('/v1/chat/completions', model, stream)
          expect(words(chat)).to.deep.equal(expected)
          const error = await errorIn(chat, status, 'openai')
          if (!(quoted ?? false) || code !== null) expect(error.code).to.equal(code)
          expect(error.message.includes('No luck with')).to.equal(quoted ?? false)

          const messages = await ask('/v1/messages', model, stream)
          expect(words(messages)).to.deep.equal(expected)
          expect((await errorIn(messages, messagesStatus, 'anthropic')).message.includes('No luck with')).to.equal(
            quoted ?? false,
          )
          expect(upstream.requests.length - asked, 'calls').to.equal(2 * calls)
        }
        const [openaiError, anthropicError] = [
          await caught(
            openai(gateway).chat.completions.create({
              model,
              messages: [{ role: 'user', content: 'hello' }],
            }),
          ),
          await caught(
            anthropic(gateway).messages.create({
              model,
              max_tokens: 9,
              messages: [{ role: 'user', content: 'hello' }],
            }),
          ),
        ]
        expect(openaiError).to.be.instanceOf(classes[0]).and.include({ status })
        expect(anthropicError).to.be.instanceOf(classes[1]).and.include({ status: messagesStatus })
      })

  it('nobody there is 502', async () => {
    expect(await errorIn(await ask('/v1/chat/completions', 'gone'), 502, 'openai')).to.include({
      code: 'upstream_unreachable',
    })
    await errorIn(await ask('/v1/messages', 'gone', true), 502, 'anthropic')
  })

  it('an answer of the wrong shape is 502, where it must be understood', async () => {
    const wrong: Record<string, readonly object[]> = {
      chat: [
        {},
        { choices: [] },
        { choices: [{}] },
        { choices: [null] },
        { choices: 'x' },
        { choices: [{ message: null }] },
        { choices: [{ message: 5 }] },
      ],
      messages: [
        {},
        { type: 'message' },
        { content: 'x' },
        { content: [null] },
        { type: 'error', error: { type: 'api_error', message: told } },
      ],
      responses: [
        {},
        { output: null },
        { output: 'x' },
        { status: 'failed', error: { code: 'server_error', message: told }, output: [] },
      ],
    }
    for (const [protocol, bodies] of Object.entries(wrong))
      for (const body of bodies) {
        upstream.answer({ body: JSON.parse(JSON.stringify(body)) as never })
        if (protocol !== 'chat') await errorIn(await ask('/v1/chat/completions', protocol), 502, 'openai')
        if (protocol !== 'messages') await errorIn(await ask('/v1/messages', protocol), 502, 'anthropic')
      }
  })

  it('an error as the first event of a stream has a status of its own', async () => {
    const first: Record<string, Script['frames']> = {
      chat: [{ data: { error: { message: told, type: 'server_error', param: null, code: 503 } } }],
      messages: [{ event: 'error', data: { type: 'error', error: { type: 'overloaded_error', message: told } } }],
      responses: [
        {
          event: 'error',
          data: { type: 'error', code: 'server_error', message: told, param: null, sequence_number: 0 },
        },
      ],
    }
    for (const [protocol, frames = []] of Object.entries(first)) {
      upstream.answer({ frames })
      const [status, code] = protocol === 'messages' ? [503, 'overloaded'] : [502, 'upstream_error']
      const chat = await errorIn(await ask('/v1/chat/completions', protocol, true), status, 'openai')
      expect(chat).to.include({ code })
      await errorIn(await ask('/v1/messages', protocol, true), status === 503 ? 529 : status, 'anthropic')
    }
    upstream.answer({
      frames: [{ event: 'error', data: { type: 'error', error: { type: 'rate_limit_error', message: told } } }],
    })
    await errorIn(await ask('/v1/messages', 'messages', true), 429, 'anthropic')
    await errorIn(await ask('/v1/chat/completions', 'messages', true), 429, 'openai')
  })

  it('a conversation that is too long is told so that agents understand', async () => {
    upstream.answer({
      status: 400,
      body: {
        error: {
          message: 'Too many tokens.',
          type: 'invalid_request_error',
          param: 'messages',
          code: 'context_length_exceeded',
        },
      },
    })
    expect(await errorIn(await ask('/v1/chat/completions', 'chat'), 400, 'openai')).to.include({
      code: 'context_length_exceeded',
      param: 'messages',
    })
    expect((await errorIn(await ask('/v1/messages', 'chat'), 400, 'anthropic')).message).to.match(/^prompt is too long/)
    upstream.answer({
      status: 400,
      body: {
        type: 'error',
        error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' },
      },
    })
    expect(await errorIn(await ask('/v1/chat/completions', 'messages'), 400, 'openai')).to.include({
      code: 'context_length_exceeded',
    })
  })

  it('waits as long as a date says, and never longer than an hour', async () => {
    const wait = async (header: string) => {
      upstream.answer({ status: 429, body: { error: { message: 'busy' } }, headers: { 'retry-after': header } })
      return Number((await ask('/v1/chat/completions', 'chat')).headers.get('retry-after'))
    }
    expect(await wait(new Date(Date.now() + 600_000).toUTCString())).to.be.within(1, 600)
    expect(await wait('999999')).to.equal(3600)
    expect(await wait('soon')).to.equal(0)
  })

  describe('that refuse access', () => {
    const refusals: readonly (readonly [kind: string, status: number, message: string, code?: string])[] = [
      ['model_access', 403, `Project of ${canary} does not have access to model gpt-x.`, 'model_not_found'],
      ['model_access', 403, 'Your organization must be verified to use the model.'],
      ['model_access', 403, "You don't have access to the model with the specified model ID."],
      ['region', 403, 'Country, region, or territory not supported.', 'unsupported_country_region_territory'],
      ['region', 403, 'This model is not available in your region.'],
      ['billing', 403, 'Your credit balance is too low to use this model.'],
      ['credentials', 403, 'Your API key does not have permission to use the specified resource.'],
      ['credentials', 401, `Incorrect API key provided: ${canary}, for this model.`, 'invalid_api_key'],
    ]
    for (const [kind, status, message, code = null] of refusals)
      it(`tell clients the kind, and the row the words: ${status} ${message.replace(canary, 'a key')}`, async () => {
        upstream.answer({ status, body: { error: { message, type: 'invalid_request_error', param: null, code } } })
        for (const path of ['/v1/chat/completions', '/v1/responses']) {
          const given = path.endsWith('completions') ? { messages: [{ role: 'user', content: 'Hi' }] } : { input: 'Hi' }
          const model = path.endsWith('completions') ? 'chat' : 'responses'
          const answer = await gateway.post(path, { model, ...given })
          expect(answer.status).to.equal(502)
          const { error } = (await answer.json()) as {
            readonly error: { readonly code: string; readonly message: string }
          }
          expect(error.code).to.equal('upstream_refused_key')
          expect(error.message).to.contain(kind).and.not.to.contain(message)
          const row = await gateway.row(({ id }) => id === answer.headers.get('x-request-id'))
          const { tries } = JSON.parse(row.metadata ?? '') as { readonly tries: readonly object[] }
          expect(tries.at(-1)).to.include({ status, refusal: kind, told: message.replace(canary, '[redacted]') })
          expect(row.metadata).to.not.contain(canary)
        }
      })
  })
})

function caught(asking: Promise<unknown>): Promise<unknown> {
  return asking.then(
    () => expect.fail('it should have failed'),
    (error: unknown) => error,
  )
}
