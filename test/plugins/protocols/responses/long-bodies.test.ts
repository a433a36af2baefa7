import { expect } from 'chai'
import type { GenerateRequest, JsonObject, PrintTarget } from '../../../../engine/index.ts'
import { parse } from '../../../../plugins/protocols/responses/parse.ts'
import { upstreams } from '../../../golden/upstreams.ts'
import { target } from './exchange.ts'

/** More than one function call can take as arguments. */
const many = 200_000
/** Enough that to look at each one for each other takes many seconds. */
const some = 12_000

function each<T>(count: number, make: (at: number) => T): T[] {
  return Array.from({ length: count }, (_, at) => make(at))
}

function printedFor(codec: (typeof upstreams)[number], request: GenerateRequest): JsonObject {
  const { protocol } = codec.codec
  const offer = { operation: 'generate', protocol, traits: codec.traits } as PrintTarget['offer']
  return codec.codec.request.print(request, { ...target(), offer }).body
}

/** Characters of the conversation. */
function size(body: JsonObject): number {
  return JSON.stringify(body['messages'] ?? body['input']).length
}

describe('responses: bodies as long as a client may send', () => {
  for (const upstream of upstreams.filter(({ name }) => name.endsWith('plain'))) {
    it(`with very many calls print for ${upstream.name}`, () => {
      const input = each(many, (at) => ({ type: 'function_call', call_id: `c${at}`, name: 'f', arguments: '{}' }))
      expect(size(printedFor(upstream, parse({ model: 'm', input })))).to.be.greaterThan(many * 30)
    }).timeout(20_000)

    it(`with very many parts print for ${upstream.name}`, () => {
      const content = each(many, () => ({ type: 'input_text', text: 'a word' }))
      expect(size(printedFor(upstream, parse({ model: 'm', input: [{ role: 'user', content }] })))).to.be.greaterThan(
        many * 6,
      )
    }).timeout(20_000)
  }

  for (const upstream of upstreams)
    it(`with as many allowed tools as tools, and calls of one id, print in linear time for ${upstream.name}`, () => {
      const tools = each(some, (at) => ({ type: 'function', name: `f${at}` }))
      const input = tools.flatMap(({ name }) => [
        { type: 'function_call', call_id: 'same', name, arguments: '{}' },
        { type: 'function_call_output', call_id: 'same', output: 'x' },
      ])
      const tool_choice = { type: 'allowed_tools', mode: 'auto', tools }
      const body = printedFor(upstream, parse({ model: 'm', input, tools, tool_choice }))
      expect(body['tools']).to.have.length(some)
    }).timeout(3000)

  it('with as many namespaces as tools are read and printed in linear time', () => {
    const tools = each(some, (at) => ({
      type: 'namespace',
      name: `n${at}`,
      description: `d${at}`,
      tools: [{ type: 'function', name: 'f' }],
    }))
    const input = each(some, (at) => ({ type: 'function_call', call_id: `c${at}`, name: `n${at}__f`, arguments: '{}' }))
    const request = parse({ model: 'm', input, tools })
    expect(request.items.at(-1)).to.deep.include({ name: 'f', namespace: `n${some - 1}` })
    const [native] = upstreams.filter(({ codec }) => codec.protocol === 'responses')
    const printed = printedFor(native as (typeof upstreams)[number], request)['tools'] as JsonObject[]
    expect(printed).to.have.length(some)
    expect(printed.at(-1)).to.deep.include({ name: `n${some - 1}`, description: `d${some - 1}` })
  }).timeout(3000)

  it('with a schema of very many properties are read in linear time', () => {
    const names = each(100_000, (at) => `p${at}`)
    const parameters = {
      type: 'object',
      properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
      required: names,
      additionalProperties: false,
    }
    const { tools } = parse({ model: 'm', input: 'Hi', tools: [{ type: 'function', name: 'f', parameters }] })
    expect(tools).to.deep.equal([{ type: 'function', name: 'f', parameters, strict: true }])
  }).timeout(3000)
})
