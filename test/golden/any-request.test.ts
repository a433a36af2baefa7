import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'chai'
import * as fc from 'fast-check'
import { GatewayError } from '../../engine/index.ts'
import { customInput, parseVerbatim } from '../../engine/kit.ts'
import type { GenerateRequest, Item, JsonObject, Printed } from '../../engine/index.ts'
import { origin } from './arbitrary-items.ts'
import { requests } from './arbitrary-requests.ts'
import { always, sources, wishes } from './fields.ts'
import { upstreams } from './upstreams.ts'

const ajv = new Ajv2020({ strict: false, validateFormats: false })
const runs = { numRuns: 200 }

describe('any request', () => {
  for (const { name, codec, traits } of upstreams) {
    const accepted = ajv.compile(codec.schema)
    const target = {
      model: 'm',
      record: { name: 'm' } as never,
      offer: { operation: 'generate' as const, protocol: codec.protocol, traits },
      origin,
    }
    /** Undefined for a request that cannot be said, which only a `GatewayError` may tell. */
    const printed = (request: GenerateRequest): Printed<JsonObject> | undefined => {
      try {
        return codec.request.print(request, target)
      } catch (error) {
        if (error instanceof GatewayError) return undefined
        throw error
      }
    }

    it(`becomes a body its protocol accepts, for ${name}`, () => {
      fc.assert(
        fc.property(requests, (request) => {
          const body = printed(request)?.body
          if (!body) return
          // Where the model stands in the address, the gateway adds it to what it checks.
          const checked = codec.located ? { ...body, model: 'm' } : body
          const sent = parseVerbatim(JSON.stringify(checked), 'all') as JsonObject
          expect(sent).to.deep.equal(checked)
          if (said(sent).length > 0)
            expect(accepted(sent), JSON.stringify(accepted.errors)).to.equal(true)
        }),
        runs,
      )
    })

    it(`says no more than it was asked, and reports what it cannot say, for ${name}`, () => {
      fc.assert(
        fc.property(requests, (request) => {
          const done = printed(request)
          if (!done) return
          const given = (field: keyof GenerateRequest) => request[field] !== undefined
          for (const field of Object.keys(done.body)) {
            const from = sources[field] ?? []
            expect((always[codec.protocol] ?? []).includes(field) || from.some(given), field).to.equal(true)
          }
          const told = new Set([...fieldsOf(done.body), ...done.losses.map((loss) => loss.field)])
          for (const [wish, words] of wishes)
            if (given(wish) && means(request, wish))
              expect(
                words.some((word) => told.has(word)),
                wish,
              ).to.equal(true)
        }),
        runs,
      )
    })

    it(`keeps every word of the conversation, for ${name}`, () => {
      fc.assert(
        fc.property(requests, (request) => {
          const done = printed(request)
          if (!done) return
          const kept = strings(done.body)
          for (const item of request.items) {
            const parts = item.type === 'message' || item.type === 'result' ? item.content : []
            for (const part of parts)
              if ((part.type === 'text' || part.type === 'refusal') && /\S/.test(part.text))
                expect(kept).to.contain(part.text)
            if (item.type === 'call' && item.kind === 'custom' && /\S/.test(item.input))
              expect(kept).to.contain(item.input)
          }
        }),
        runs,
      )
    })

    it(`is the same after a second round, for ${name}`, () => {
      fc.assert(
        fc.property(requests, (request) => {
          const first = printed(request)
          if (!first || said(first.body).length === 0) return
          const once = claimed(codec.request.parse(first.body))
          if (once.items.length === 0) return
          const again = printed(once)
          expect(again, 'what was printed once can be printed again').to.not.equal(undefined)
          expect(claimed(codec.request.parse((again as Printed<JsonObject>).body))).to.deep.equal(once)
        }),
        runs,
      )
    })
  }
})

/** Wishes that say nothing: no limit where there are none. */
function means(request: GenerateRequest, wish: keyof GenerateRequest): boolean {
  if (wish === 'temperature' || wish === 'topP') return request[wish] !== 1
  if (wish === 'serviceTier') return request.serviceTier !== 'auto'
  return true
}

/** A request as a client of this gateway would send it: what is sealed was sealed by this upstream, and nothing else counts. */
function claimed(request: GenerateRequest): GenerateRequest {
  const items = request.items.flatMap((item): readonly Item[] => {
    if (item.type !== 'reasoning') return [item]
    return item.seal ? [{ ...item, seal: { ...item.seal, origin } }] : []
  })
  return { ...request, items }
}

/** Every text in a body, those inside arguments of calls included. */
function strings(value: unknown): string {
  if (typeof value === 'string') return `${value}\n${customInput(value)}`
  return typeof value === 'object' && value !== null ? Object.values(value).map(strings).join('\n') : ''
}

/** The conversation of a body. */
function said({ messages, input, contents }: JsonObject): readonly unknown[] {
  const list = messages ?? input ?? contents
  return Array.isArray(list) ? list : []
}

/** The fields of a body, also those of its configuration, in the spelling of the others. */
function fieldsOf(body: JsonObject): readonly string[] {
  const { generationConfig = {} } = body as { generationConfig?: JsonObject }
  return [...Object.keys(body), ...Object.keys(generationConfig)].map((name) =>
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  )
}
