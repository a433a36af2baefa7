import { expect } from 'chai'
import type { GenerateRequest, Item, JsonObject } from '../../../../engine/index.ts'
import { printed, target } from './fixtures.ts'

const user = (text: string): Item => ({ type: 'message', role: 'user', content: [{ type: 'text', text }] })
const assistant = (text: string): Item => ({ type: 'message', role: 'assistant', content: [{ type: 'text', text }] })
const system = (text: string): Item => ({ type: 'message', role: 'system', content: [{ type: 'text', text }] })
const text = (value: string) => ({ type: 'text', text: value })

describe('messages: printing a request', () => {
  it('prints the least body, with an output limit', () => {
    expect(printed({}).body).to.deep.equal({
      model: 'opus-1',
      max_tokens: 8192,
      messages: [{ role: 'user', content: [text('hi')] }],
    })
    expect(printed({ stream: true }, target({}, null)).body).to.deep.include({ max_tokens: 32000, stream: true })
    expect(printed({ maxOutputTokens: 7 }).body.max_tokens).to.equal(7)
  })

  it('prints one plain leading text as `system`, more as blocks', () => {
    expect(printed({ items: [system('one'), user('hi')] }).body.system).to.equal('one')
    const developer: Item = { type: 'message', role: 'developer', content: [{ type: 'text', text: 'two' }] }
    expect(printed({ items: [system('one'), developer, user('hi')] }).body.system).to.deep.equal([
      text('one'),
      text('two'),
    ])
    const marked: Item = {
      type: 'message',
      role: 'system',
      content: [{ type: 'text', text: 'one', cache: { ttl: '1h' } }],
    }
    expect(printed({ items: [marked, user('hi')] }).body.system).to.deep.equal([
      { ...text('one'), cache_control: { type: 'ephemeral', ttl: '1h' } },
    ])
  })

  it('prints a later system text as a text of the user in its place, unless the upstream takes it', () => {
    const items = [user('hi'), assistant('yes'), system('be kind'), user('go')]
    const plain = printed({ items })
    expect(plain.body.messages).to.deep.equal([
      { role: 'user', content: [text('hi')] },
      { role: 'assistant', content: [text('yes')] },
      { role: 'user', content: [text('be kind'), text('go')] },
    ])
    expect(plain.lost).to.deep.equal(['messages[].role'])
    const native = printed({ items }, target({ system_messages: true }))
    expect(native.body.messages).to.deep.include({ role: 'system', content: [text('be kind')] })
    expect(native.lost).to.deep.equal([])
  })

  it('opens a conversation that no user opened', () => {
    expect(printed({ items: [system('only')] }).body).to.deep.include({
      system: 'only',
      messages: [{ role: 'user', content: [text('(conversation starts)')] }],
    })
    expect(printed({ items: [assistant('hello'), user('hi')] }).body.messages).to.deep.equal([
      { role: 'user', content: [text('(conversation starts)')] },
      { role: 'assistant', content: [text('hello')] },
      { role: 'user', content: [text('hi')] },
    ])
  })

  it('joins turns of one role and leaves blank texts out', () => {
    expect(printed({ items: [user('a'), user(' \n'), assistant(''), user('b')] }).body.messages).to.deep.equal([
      { role: 'user', content: [text('a'), text('b')] },
    ])
  })

  it('closes the objects of a schema, and tells limits of values in words', () => {
    const city = { type: 'string', format: 'city', maxLength: 9, description: 'Where.' }
    const days = { type: ['array', 'null'], minItems: 2, items: { $ref: '#/$defs/day' } }
    const day = { type: 'object', properties: { at: { type: 'string', format: 'date' } }, additionalProperties: true }
    const minimum = { type: 'object', properties: {}, additionalProperties: false }
    const schema = {
      type: 'object',
      properties: { city, days, minimum, count: { oneOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }] } },
      required: ['city'],
      $defs: { day },
    }
    const { body, lost } = printed({ format: { type: 'schema', name: 'n', schema } })
    expect(body.output_config).to.deep.equal({
      format: {
        type: 'json_schema',
        schema: {
          ...schema,
          properties: {
            city: { type: 'string', description: 'Where.\n\n{format: "city", maxLength: 9}' },
            days: { type: ['array', 'null'], items: { $ref: '#/$defs/day' }, description: '{minItems: 2}' },
            minimum,
            count: { anyOf: [{ type: 'integer', description: '{minimum: 1}' }, { type: 'null' }] },
          },
          $defs: { day: { ...day, additionalProperties: false } },
          additionalProperties: false,
        },
      },
    })
    expect(lost).to.deep.equal(['response_format.schema', 'response_format.schema.additionalProperties'])
  })

  it('only asks for objects that are open to all names, wherever they stand in a schema', () => {
    const map = { type: 'object', additionalProperties: { type: 'number' } }
    const holding = (counts: JsonObject) => ({ type: 'object', properties: { counts }, additionalProperties: false })
    for (const schema of [
      { type: 'object' },
      map,
      { type: ['object', 'null'], properties: {} },
      { type: 'object', patternProperties: { '^x-': { type: 'string' } }, additionalProperties: false },
      { type: 'object', anyOf: [{ required: ['a'] }, { required: ['b'] }] },
      holding(map),
      holding({ type: 'array', items: map }),
      holding({ anyOf: [map, { type: 'null' }] }),
      { ...holding({ $ref: '#/$defs/map' }), $defs: { map } },
    ]) {
      const { body, lost } = printed({ format: { type: 'schema', description: 'd', schema } })
      expect(body).to.not.have.property('output_config')
      expect(body.system).to.contain(`matches this JSON Schema, and with nothing else:\n${JSON.stringify(schema)}`)
      expect(lost).to.deep.equal(['response_format'])
    }
    const empty = holding({ type: 'object', additionalProperties: false })
    const { body, lost } = printed({ format: { type: 'schema', schema: empty } })
    expect(body.output_config).to.deep.equal({ format: { type: 'json_schema', schema: empty } })
    expect(lost).to.deep.equal([])
  })

  it('closes the parts that say what an object has, and not what joins them', () => {
    const $defs = { a: { type: 'object', properties: { a: { type: 'string' } } } }
    const parts = [{ $ref: '#/$defs/a' }, { type: 'object', properties: { b: { type: 'string' } } }]
    const schema = { type: 'object', oneOf: parts, $defs }
    const { body, lost } = printed({ format: { type: 'schema', schema } })
    expect(body.output_config).to.deep.equal({
      format: {
        type: 'json_schema',
        schema: {
          anyOf: [parts[0], { ...parts[1], additionalProperties: false }],
          $defs: { a: { ...$defs.a, additionalProperties: false } },
        },
      },
    })
    expect(lost).to.deep.equal([])
  })

  it('only describes `oneOf` beside `anyOf`, whose place it would take', () => {
    const anyOf = [{ type: 'string' }, { type: 'null' }]
    const oneOf = [{ const: 'a' }, { const: 'b' }]
    for (const schema of [
      { anyOf, oneOf },
      { oneOf, anyOf },
    ]) {
      const { body, lost } = printed({ format: { type: 'schema', schema } })
      const description = '{oneOf: [{"const":"a"},{"const":"b"}]}'
      expect(body.output_config).to.deep.equal({ format: { type: 'json_schema', schema: { anyOf, description } } })
      expect(lost).to.deep.equal(['response_format.schema'])
    }
  })

  it('puts a schema into `output_config`, or its text into the system', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } }
    const format: GenerateRequest['format'] = { type: 'schema', name: 'n', schema, strict: true }
    expect(printed({ format })).to.deep.include({ lost: [] })
    expect(printed({ format }).body.output_config).to.deep.equal({
      format: { type: 'json_schema', schema: { ...schema, additionalProperties: false } },
    })
    const told = printed({ format, items: [system('one'), user('hi')] }, target({ json_schema: false }))
    expect(told.lost).to.deep.equal(['response_format'])
    expect(told.body.system).to.deep.equal([
      text('one'),
      text(`Answer with JSON that matches this JSON Schema, and with nothing else:\n${JSON.stringify(schema)}`),
    ])
    const json = printed({ format: { type: 'json' } })
    expect(json.body.system).to.equal('Answer with one JSON object and nothing else.')
    expect(json.lost).to.deep.equal(['response_format'])
  })

  it('clamps the temperature and drops sampling the upstream refuses', () => {
    expect(printed({ temperature: 1.5, topP: 0.9, topK: 5 })).to.deep.include({ lost: ['temperature'] })
    expect(printed({ temperature: 1.5, topP: 0.9, topK: 5 }).body).to.deep.include({
      temperature: 1,
      top_p: 0.9,
      top_k: 5,
    })
    const none = printed({ temperature: 0, topP: 0.9, topK: 5 }, target({ sampling: false }))
    expect(none.body).to.not.have.any.keys('temperature', 'top_p', 'top_k')
    expect(none.lost).to.deep.equal(['temperature', 'top_p', 'top_k'])
    const one = printed({ temperature: 0.2, topP: 0.9 }, target({ sampling: 'one' }))
    expect(one.body).to.include({ temperature: 0.2 }).and.not.have.property('top_p')
    expect(one.lost).to.deep.equal(['top_p'])
  })

  it('prints stops, user and tier', () => {
    const { body, lost, cuts } = printed({ stop: ['END', '\n'], user: 'u', serviceTier: 'default' })
    expect(body).to.deep.include({ stop_sequences: ['END'], metadata: { user_id: 'u' }, service_tier: 'standard_only' })
    expect(lost).to.deep.equal([])
    expect(cuts, 'the upstream refuses white space').to.deep.equal(['\n'])
    const long = printed({ user: 'x'.repeat(300), serviceTier: 'flex' })
    expect(long.body.metadata).to.deep.equal({
      user_id: '0d4e2ca9e9cbced7a7a5380eb29e1a3783b9b6d0db72de36a1051038e1c1fbc7',
    })
    expect(long.lost).to.deep.equal(['service_tier'])
  })

  it('reports what the protocol has no field for', () => {
    const { lost } = printed({
      seed: 1,
      frequencyPenalty: 0.5,
      presencePenalty: 0,
      logprobs: 2,
      verbosity: 'low',
      cacheKey: 'k',
      metadata: { a: 'b' },
      store: true,
      rest: { protocol: 'chat', fields: { n: 2, 'odd\r\nname': 1 } },
    })
    expect(lost).to.have.members([
      'seed',
      'frequency_penalty',
      'logprobs',
      'verbosity',
      'prompt_cache_key',
      'metadata',
      'store',
      'n',
      'unknown',
    ])
  })

  it('puts its own `rest` back, and no cache mark where the upstream takes none', () => {
    const rest = {
      protocol: 'messages',
      fields: {
        cache_control: { type: 'ephemeral', ttl: '1h' },
        speed: 'fast',
        output_config: { task_budget: 1 },
        metadata: { x: 1 },
      },
    }
    expect(printed({ rest, user: 'u', format: { type: 'schema', schema: {} } }).body).to.deep.include({
      cache_control: { type: 'ephemeral', ttl: '1h' },
      speed: 'fast',
      output_config: { format: { type: 'json_schema', schema: {} }, task_budget: 1 },
      metadata: { user_id: 'u', x: 1 },
    })
    const unmarked = printed({ rest }, target({ cache_control: false }))
    expect(unmarked.body).to.not.have.property('cache_control')
    expect(unmarked.lost).to.deep.equal(['cache_control'])
    const untimed = printed({ rest }, target({ cache_control: 'untimed' }))
    expect(untimed.body.cache_control).to.deep.equal({ type: 'ephemeral' })
    expect(untimed.lost).to.deep.equal(['cache_control.ttl'])
  })

  it('reports names and phases of messages', () => {
    const named: Item = {
      type: 'message',
      role: 'user',
      name: 'ann',
      phase: 'commentary',
      content: [{ type: 'text', text: 'x' }],
    }
    expect(printed({ items: [named] }).lost).to.deep.equal(['messages[].name', 'messages[].phase'])
  })
})
