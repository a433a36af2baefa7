import { expect } from 'chai'
import type { GenerateRequest, JsonObject, PrintTarget } from '../../../engine/index.ts'
import { parse } from '../../../plugins/responses/parse-request.ts'
import { upstreams } from '../../golden/upstreams.ts'
import { expectLinear } from '../../support/work.ts'
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
  return JSON.stringify(body['messages'] ?? body['input'] ?? body['contents']).length
}

describe('responses: bodies as long as a client may send', () => {
  for (const upstream of upstreams.filter(({ name }) => name.endsWith('plain'))) {
    it(`with very many calls print for ${upstream.name}`, () => {
      const input = each(many, (at) => ({ type: 'function_call', call_id: `c${at}`, name: 'f', arguments: '{}' }))
      expect(size(printedFor(upstream, parse({ model: 'm', input })))).to.be.greaterThan(many * 30)
    })

    it(`with very many parts print for ${upstream.name}`, () => {
      const content = each(many, () => ({ type: 'input_text', text: 'a word' }))
      expect(size(printedFor(upstream, parse({ model: 'm', input: [{ role: 'user', content }] })))).to.be.greaterThan(
        many * 6,
      )
    })
  }

  for (const upstream of upstreams)
    it(`with as many allowed tools as tools, and calls of one id, print in linear time for ${upstream.name}`, () => {
      const allowing = (count: number) => {
        const tools = each(count, (at) => ({ type: 'function', name: `f${at}` }))
        const input = tools.flatMap(({ name }) => [
          { type: 'function_call', call_id: 'same', name, arguments: '{}' },
          { type: 'function_call_output', call_id: 'same', output: 'x' },
        ])
        return { model: 'm', input, tools, tool_choice: { type: 'allowed_tools', mode: 'auto', tools } }
      }
      const print = (body: JsonObject) => printedFor(upstream, parse(body))
      expectLinear(some, allowing, print)
      const tools = print(allowing(some))['tools'] as readonly JsonObject[]
      // One protocol has a list of functions in its only tool.
      expect(tools[0]?.['functionDeclarations'] ?? tools).to.have.length(some)
    })

  it('with as many namespaces as tools are read and printed in linear time', () => {
    const spaced = (count: number) => {
      const tools = each(count, (at) => ({
        type: 'namespace',
        name: `n${at}`,
        description: `d${at}`,
        tools: [{ type: 'function', name: 'f' }],
      }))
      const call = { type: 'function_call', arguments: '{}' }
      return { model: 'm', input: each(count, (at) => ({ ...call, call_id: `c${at}`, name: `n${at}__f` })), tools }
    }
    const [native] = upstreams.filter(({ codec }) => codec.protocol === 'responses')
    const print = (request: GenerateRequest) => printedFor(native as (typeof upstreams)[number], request)
    expectLinear(some, spaced, (body) => print(parse(body)))
    const request = parse(spaced(some))
    expect(request.items.at(-1)).to.deep.include({ name: 'f', namespace: `n${some - 1}` })
    const printed = print(request)['tools'] as JsonObject[]
    expect(printed).to.have.length(some)
    expect(printed.at(-1)).to.deep.include({ name: `n${some - 1}`, description: `d${some - 1}` })
  })

  it('with a schema of very many properties are read in linear time', () => {
    const tooled = (count: number) => {
      const names = each(count, (at) => `p${at}`)
      const parameters = {
        type: 'object',
        properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
        required: names,
        additionalProperties: false,
      }
      return { model: 'm', input: 'Hi', tools: [{ type: 'function', name: 'f', parameters }] }
    }
    expectLinear(100_000, tooled, parse)
    const body = tooled(100_000)
    const [{ parameters } = {}] = body.tools
    const { tools } = parse(body)
    expect(tools).to.deep.equal([{ type: 'function', name: 'f', parameters, strict: true }])
  })
})
