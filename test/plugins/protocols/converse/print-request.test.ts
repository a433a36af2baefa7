import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'chai'
import * as fc from 'fast-check'
import { GatewayError } from '../../../../engine/index.ts'
import type { GenerateRequest, Item, JsonObject, Traits } from '../../../../engine/index.ts'
import { parseVerbatim } from '../../../../engine/kit.ts'
import { DocumentNames } from '../../../../plugins/protocols/converse/document-names.ts'
import { familyOf } from '../../../../plugins/protocols/converse/family.ts'
import { print } from '../../../../plugins/protocols/converse/print-request.ts'
import { origin } from '../../../golden/arbitrary-items.ts'
import { requests } from '../../../golden/arbitrary-requests.ts'

const object = { type: 'object' }
const only = (properties: object, required: readonly string[] = Object.keys(properties)) => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties,
})
/** A union of which exactly one member is set. */
const union = (properties: object) => ({ ...only(properties, []), minProperties: 1, maxProperties: 1 })
const text = { type: 'string', pattern: '\\S' }
const cachePoint = only({ type: { const: 'default' }, ttl: { const: '1h' } }, ['type'])
const source = union({
  bytes: { type: 'string', minLength: 1 },
  s3Location: only({ uri: { type: 'string', pattern: '^s3://' } }),
})
const image = only({ format: { enum: ['png', 'jpeg', 'gif', 'webp'] }, source })
const document = only(
  {
    format: { enum: ['pdf', 'csv', 'doc', 'docx', 'xls', 'xlsx', 'html', 'txt', 'md'] },
    name: { type: 'string', minLength: 1, maxLength: 200, pattern: '^(?!.*\\s\\s)[A-Za-z0-9\\s()\\[\\]-]+$' },
    source,
    context: { type: 'string' },
    citations: only({ enabled: { type: 'boolean' } }),
  },
  ['format', 'name', 'source'],
)
const id = { type: 'string', pattern: '^[a-zA-Z0-9_-]{1,64}$' }
const block = union({
  text,
  image,
  document,
  cachePoint,
  toolUse: only({ toolUseId: id, name: id, input: object }),
  toolResult: only(
    { toolUseId: id, content: { type: 'array', items: union({ text, image, document }) }, status: { const: 'error' } },
    ['toolUseId', 'content'],
  ),
  reasoningContent: union({
    reasoningText: only({ text: { type: 'string' }, signature: { type: 'string' } }),
    redactedContent: { type: 'string' },
  }),
})
const toolSpec = only(
  {
    name: id,
    description: text,
    inputSchema: only({ json: { type: 'object', required: ['type'] } }),
    strict: { type: 'boolean' },
  },
  ['name', 'inputSchema'],
)
/** What the API takes (docs.aws.amazon.com/bedrock, API_runtime_Converse), as far as the codec writes it. */
const accepted = new Ajv2020({ strict: false }).compile(
  only(
    {
      system: { type: 'array', minItems: 1, items: union({ text, cachePoint }) },
      messages: {
        type: 'array',
        minItems: 1,
        items: only({
          role: { enum: ['user', 'assistant'] },
          content: { type: 'array', minItems: 1, items: block },
        }),
      },
      inferenceConfig: only(
        {
          maxTokens: { type: 'integer' },
          temperature: { type: 'number', minimum: 0, maximum: 1 },
          topP: { type: 'number' },
          stopSequences: { type: 'array', minItems: 1, items: text },
        },
        [],
      ),
      toolConfig: only(
        {
          tools: { type: 'array', minItems: 1, items: union({ toolSpec, cachePoint }) },
          toolChoice: union({ auto: only({}), any: only({}), tool: only({ name: id }) }),
        },
        ['tools'],
      ),
      outputConfig: only({ effort: { type: 'string' }, textFormat: object }, []),
      additionalModelRequestFields: object,
      additionalModelResponseFieldPaths: { type: 'array' },
      requestMetadata: { type: 'object', additionalProperties: { type: 'string' } },
      serviceTier: only({ type: { enum: ['default', 'flex', 'priority'] } }),
    },
    ['messages'],
  ),
)

const models = {
  claude: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  nova: 'amazon.nova-pro-v1:0',
  other: 'us.meta.llama3-3-70b-instruct-v1:0',
}
const target = (model: string, traits: Traits = {}, caching: 'off' | 'auto' = 'off') => ({
  model,
  record: { name: 'm' } as never,
  offer: { operation: 'generate' as const, protocol: 'converse', traits },
  origin,
  caching,
})
interface Turn {
  readonly role: string
  readonly content: readonly JsonObject[]
}
const turnsOf = (body: JsonObject) => body['messages'] as unknown as readonly Turn[]
const ids = ({ content }: Turn, kind: 'toolUse' | 'toolResult') =>
  content.flatMap((one) => (one[kind] === undefined ? [] : [(one[kind] as { toolUseId: string }).toolUseId]))
const user = (content: string): Item => ({ type: 'message', role: 'user', content: [{ type: 'text', text: content }] })
const ask = (items: readonly Item[], more: Partial<GenerateRequest> = {}): GenerateRequest => ({
  items,
  tools: [],
  stream: false,
  ...more,
})

describe('converse: requests', () => {
  for (const [family, model] of Object.entries(models))
    for (const traits of [{}, { json_schema: true, effort: true, sampling: 'one', strict_tools: true }])
      it(`are ones that the API takes, whatever is asked: ${family} ${JSON.stringify(traits)}`, () => {
        fc.assert(
          fc.property(requests, fc.constantFrom('off', 'auto'), (request, caching) => {
            let printed
            try {
              printed = print(request, target(model, traits, caching))
            } catch (error) {
              // A request that no protocol without namespaces can say.
              if (error instanceof GatewayError) return
              throw error
            }
            const { body } = printed
            expect(parseVerbatim(JSON.stringify(body), 'all')).to.deep.equal(body)
            expect(accepted(JSON.parse(JSON.stringify(body))), JSON.stringify(accepted.errors)).to.equal(true)
            const turns = turnsOf(body)
            expect(turns.map(({ role }) => role)).to.deep.equal(
              turns.map((_, at) => (at % 2 === 0 ? 'user' : 'assistant')),
            )
            for (const [at, turn] of turns.entries()) {
              const next = turns[at + 1]
              const calls = ids(turn, 'toolUse')
              if (calls.length > 0) expect(next && ids(next, 'toolResult')).to.have.members(calls)
            }
            const calls = turns.flatMap((turn) => ids(turn, 'toolUse'))
            expect(new Set(calls).size).to.equal(calls.length)
            if (calls.length > 0) expect(body).to.have.property('toolConfig')
            const names = turns.flatMap(({ content }) =>
              content.flatMap((one) => (one['document'] ? [(one['document'] as { name: string }).name] : [])),
            )
            expect(new Set(names).size).to.equal(names.length)
            for (const { content } of turns)
              if (content.some((one) => 'document' in one)) expect(content.some((one) => 'text' in one)).to.equal(true)
          }),
          { numRuns: 150 },
        )
      })

  it('only ask for objects that are open to all names', () => {
    const demanded = (schema: JsonObject) =>
      print(
        ask([user('hi')], { format: { type: 'schema', schema } }),
        target(models.claude, { json_schema: true }, 'off'),
      )
    const named = demanded({ type: 'object', properties: { a: { type: 'string' } } })
    expect(named.body).to.have.property('outputConfig')
    expect(named.losses).to.deep.equal([])
    const map = demanded({ type: 'object', additionalProperties: { type: 'number' } })
    expect(map.body).to.not.have.property('outputConfig')
    expect(map.body['system']).to.deep.equal([
      {
        text: 'Answer with JSON that matches this JSON Schema, and with nothing else:\n{"type":"object","additionalProperties":{"type":"number"}}',
      },
    ])
    expect(map.losses.map(({ field }) => field)).to.deep.equal(['response_format'])
  })

  it('get cache points where the gateway sets them: after system, tools, and the last turn of the user', () => {
    const long = 'long '.repeat(1000)
    const system: Item = { type: 'message', role: 'system', content: [{ type: 'text', text: long }] }
    const request = ask([system, user('one')], { tools: [{ type: 'function', name: 'f' }] })
    const point = { cachePoint: { type: 'default' } }
    const { body } = print(request, target(models.claude, {}, 'auto'))
    expect(body['system']).to.deep.equal([{ text: long }, point])
    expect((body['toolConfig'] as JsonObject)['tools']).to.deep.include(point)
    expect(turnsOf(body)[0]?.content.at(-1)).to.deep.equal(point)
    const told = (printed: JsonObject) => JSON.stringify(printed).split('cachePoint').length - 1
    expect(told(print(request, target(models.claude)).body)).to.equal(0)
    expect(told(print(request, target(models.other, {}, 'auto')).body)).to.equal(0)
    expect(told(print(request, target(models.other, { cache_points: true }, 'auto')).body)).to.equal(3)
    expect(told(print(ask([user('one')]), target(models.claude, {}, 'auto')).body)).to.equal(0)
    const marked = ask([{ ...system, content: [{ type: 'text', text: long, cache: { ttl: '1h' } }] }, user('one')])
    expect(told(print(marked, target(models.claude, {}, 'auto')).body)).to.equal(1)
  })

  it('raise the limit above a budget of thinking, and do without thinking beside a forced tool', () => {
    const tools = [{ type: 'function' as const, name: 'f' }]
    const thinks = (more: Partial<GenerateRequest>) => {
      const { body, losses } = print(
        ask([user('one')], { reasoning: { budget: 40_000 }, ...more }),
        target(models.claude),
      )
      return [
        (body['inferenceConfig'] as JsonObject | undefined)?.['maxTokens'],
        body['additionalModelRequestFields'],
        losses.map(({ field }) => field),
      ]
    }
    const thinking = (budget_tokens: number) => ({ thinking: { type: 'enabled', budget_tokens } })
    expect(thinks({})).to.deep.equal([44_096, thinking(40_000), []])
    expect(thinks({ maxOutputTokens: 5000 })).to.deep.equal([5000, thinking(4999), ['reasoning.budget']])
    expect(thinks({ tools, toolChoice: { type: 'required' } })).to.deep.equal([undefined, undefined, ['reasoning']])
    expect(thinks({ temperature: 0.5 })).to.deep.equal([44_096, thinking(40_000), ['temperature']])
  })
})

describe('converse: names', () => {
  it('of documents are unique, and of characters that the API takes', () => {
    const names = new DocumentNames()
    const given = ['a.pdf', 'a.pdf', 'a', undefined, '', '..//__', 'x'.repeat(500), 'Q3 [final] (2)-b.xlsx']
    expect(given.map((name) => names.name(name))).to.deep.equal([
      'a',
      'a (2)',
      'a (3)',
      'document',
      'document (2)',
      'document (3)',
      'x'.repeat(192),
      'Q3 [final] (2)-b',
    ])
  })

  it('of models tell whose they are', () => {
    const families = {
      'anthropic.claude-3-haiku-20240307-v1:0': 'claude',
      'global.anthropic.claude-opus-4-6-v1': 'claude',
      'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3': 'claude',
      'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.meta.llama3-3-70b-instruct-v1:0': 'other',
      'arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-lite-v1:0': 'nova',
      'us.amazon.nova-premier-v1:0': 'nova',
      'amazon.titan-text-express-v1': 'other',
      'us.deepseek.r1-v1:0': 'other',
      'mistral.mistral-large-2402-v1:0': 'other',
      'openai.gpt-oss-120b-1:0': 'openai',
      m: 'claude',
    }
    for (const [model, family] of Object.entries(families)) expect(familyOf({ model }), model).to.equal(family)
  })
})
