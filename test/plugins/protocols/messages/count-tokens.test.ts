import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'chai'
import { GatewayError } from '../../../../engine/index.ts'
import codec from '../../../../plugins/protocols/messages/count-tokens.ts'

const valid = new Ajv2020({ strict: false, ownProperties: true }).compile(codec.schema)
const message = { role: 'user', content: 'Hi' }

describe('count-tokens', () => {
  it('accepts a messages body without max_tokens', () => {
    const bodies = [
      { model: 'm', messages: [message] },
      { model: 'm', messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }], system: null, tools: null },
      {
        model: 'm',
        messages: [message],
        system: 'S',
        tools: [{ name: 't' }],
        tool_choice: { type: 'auto' },
        thinking: { type: 'disabled' },
      },
      { model: 'm', messages: [message], system: [{ type: 'text', text: 'S' }], unknown: 1 },
    ]
    for (const body of bodies) expect([body, valid(body)]).to.deep.equal([body, true])
  })

  const refused: readonly (readonly [body: object, place: string])[] = [
    [{ messages: [message] }, ''],
    [{ model: 'm' }, ''],
    [{ model: '', messages: [message] }, '/model'],
    [{ model: 'm', messages: [] }, '/messages'],
    [{ model: 'm', messages: [{ role: 'robot', content: 'Hi' }] }, '/messages/0/role'],
    [{ model: 'm', messages: [{ role: 'user', content: [{}] }] }, '/messages/0/content/0'],
    [{ model: 'm', messages: [message], system: 5 }, '/system'],
    [{ model: 'm', messages: [message], tools: {} }, '/tools'],
  ]
  for (const [body, place] of refused) {
    it(`refuses ${JSON.stringify(body)}`, () => {
      expect([valid(body), valid.errors?.[0]?.instancePath]).to.deep.equal([false, place])
    })
  }

  it('reads the head and meters nothing', () => {
    expect(codec.head({ model: 'm', messages: [] })).to.deep.equal({ model: 'm', stream: false, background: false })
    expect(codec.meter.reply({ input_tokens: 7 })).to.deep.equal({})
    expect(codec.idHeader).to.equal('request-id')
  })

  it('prints errors in the shape of the messages protocol', () => {
    const { failure } = new GatewayError('model_not_found', { model: 'x' })
    expect(codec.error.print(failure, 'r1')).to.deep.equal({
      type: 'error',
      error: { type: 'not_found_error', message: 'The model "x" does not exist.' },
      request_id: 'r1',
    })
    const types = [400, 401, 403, 404, 405, 413, 429, 500, 502, 503, 504].map((status) => {
      const printed = codec.error.print({ ...failure, status }, 'r1') as { error: { type: string } }
      return `${status} ${printed.error.type}`
    })
    expect(types).to.deep.equal([
      '400 invalid_request_error',
      '401 authentication_error',
      '403 permission_error',
      '404 not_found_error',
      '405 invalid_request_error',
      '413 request_too_large',
      '429 rate_limit_error',
      '500 api_error',
      '502 api_error',
      '503 api_error',
      '504 timeout_error',
    ])
  })

  it('reads errors of an upstream', () => {
    const body = { type: 'error', error: { type: 'rate_limit_error', message: 'Slow down.' }, request_id: 'u1' }
    const base = { code: null, param: null }
    expect(codec.error.parse(429, body)).to.deep.equal({
      ...base,
      status: 429,
      type: 'rate_limit_error',
      message: 'Slow down.',
    })
    const unread = { ...base, type: 'server_error', message: 'The upstream answered with status 500.' }
    for (const odd of [undefined, null, [], 'text', { error: {} }]) {
      expect(codec.error.parse(500, odd)).to.deep.equal({ ...unread, status: 500 })
    }
    expect(codec.error.parse(400, { error: 'bad' }).message).to.equal('bad')
  })
})
