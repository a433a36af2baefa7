import { expect } from 'chai'
import { ResponsesWS } from 'openai/resources/responses/ws'
import type { Response, ResponseCreateParamsNonStreaming } from 'openai/resources/responses/responses'
import type { JsonObject } from '../../engine/index.ts'
import { openai } from '../support/clients.ts'
import { calls, startService } from './responses-session.ts'
import type { Service } from './responses-session.ts'
import { chatFrames, messagesFrames, responsesFrames } from './streams.ts'
import { asked } from './stored-upstreams.ts'

const kinds = ['responses', 'chat', 'messages'] as const
type Kind = (typeof kinds)[number]
const saying = { responses: responsesFrames, chat: chatFrames, messages: messagesFrames }
const routes = { responses: '/v1/responses', chat: '/v1/chat/completions', messages: '/v1/messages' }

const parameters = { type: 'object', properties: { at: { type: 'integer' } }, required: ['at'] }
const look = { type: 'function', name: 'look', description: 'Looks there.', parameters, strict: false } as const
const schema = {
  type: 'object',
  properties: { animal: { type: 'string' } },
  required: ['animal'],
  additionalProperties: false,
}
const picture = 'data:image/png;base64,iVBORw0KGgo='

type Turn = Pick<ResponseCreateParamsNonStreaming, 'input' | 'previous_response_id' | 'text' | 'tools'>

describe('the official client of a responses socket', () => {
  let service: Service
  let socket: ResponsesWS
  before(async () => {
    service = await startService()
  })
  beforeEach(() => {
    socket = new ResponsesWS(openai(service.gateway))
  })
  afterEach(() => socket.close())
  after(() => service.close())

  /** One turn: the response that completes it, and what the upstream was sent for it. */
  const turn = async (model: Kind, fields: Turn): Promise<{ response: Response; sent: JsonObject }> => {
    const before = service.upstream.requests.length
    const { promise, resolve, reject } = Promise.withResolvers<Response>()
    socket.once('error', reject)
    socket.once('response.completed', ({ response }) => resolve(response))
    socket.send({ type: 'response.create', model, ...fields })
    const response = await promise
    socket.off('error', reject)
    const [request, ...more] = service.upstream.requests.slice(before)
    if (!request) throw new Error('the upstream was not asked')
    expect(more).to.deep.equal([])
    expect(request.path).to.equal(routes[model])
    const sent = asked(request)
    expect(sent).to.include({ model: 'vendor-model', stream: true })
    return { response, sent }
  }

  for (const kind of kinds)
    describe(`over an upstream of ${kind}`, () => {
      it('has a function called, and goes on with what it gave', async () => {
        const { upstream } = service
        upstream.answer({ frames: calls[kind] ?? [] }, { frames: saying[kind]('A cat.') })
        const first = await turn(kind, { input: 'What is there?', tools: [look] })
        expect(first.response.output).to.have.length(1)
        expect(first.response.output[0]).to.include({
          type: 'function_call',
          call_id: 'call_1',
          name: 'look',
          arguments: '{"at":1}',
        })
        const { name, description } = look
        expect(first.sent['tools']).to.deep.equal(
          {
            responses: [look],
            chat: [{ type: 'function', function: { name, description, parameters, strict: false } }],
            messages: [{ name, description, input_schema: parameters }],
          }[kind],
        )
        const second = await turn(kind, {
          previous_response_id: first.response.id,
          input: [{ type: 'function_call_output', call_id: 'call_1', output: 'a cat' }],
          tools: [look],
        })
        expect(textOf(second.response)).to.equal('A cat.')
        // What an upstream of this protocol says is relayed, and this one does not say it.
        if (kind !== 'responses') expect(second.response.previous_response_id).to.equal(first.response.id)
        expect(second.sent['previous_response_id']).to.equal(kind === 'responses' ? first.response.id : undefined)
        expect(second.sent[kind === 'responses' ? 'input' : 'messages']).to.deep.equal(
          {
            // This one knows the conversation itself.
            responses: [{ type: 'function_call_output', call_id: 'call_1', output: 'a cat' }],
            chat: [
              { role: 'user', content: 'What is there?' },
              {
                role: 'assistant',
                content: null,
                tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }],
              },
              { role: 'tool', tool_call_id: 'call_1', content: 'a cat' },
            ],
            messages: [
              { role: 'user', content: [{ type: 'text', text: 'What is there?' }] },
              { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'look', input: { at: 1 } }] },
              { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'a cat' }] },
            ],
          }[kind],
        )
      })

      it('is answered in the form it asked for', async () => {
        service.upstream.answer({ frames: saying[kind]('{"animal":', '"cat"}') })
        const format = { type: 'json_schema', name: 'sight', strict: true, schema } as const
        const { response, sent } = await turn(kind, { input: 'What is there?', text: { format } })
        expect(JSON.parse(textOf(response))).to.deep.equal({ animal: 'cat' })
        if (kind !== 'responses') expect(response.text).to.deep.include({ format })
        const { type: _type, ...named } = format
        expect(sent[{ responses: 'text', chat: 'response_format', messages: 'output_config' }[kind]]).to.deep.equal(
          {
            responses: { format },
            chat: { type: 'json_schema', json_schema: named },
            messages: { format: { type: 'json_schema', schema } },
          }[kind],
        )
      })

      it('shows a picture', async () => {
        service.upstream.answer({ frames: saying[kind]('A cat.') })
        const question = { type: 'input_text', text: 'What is this?' } as const
        const image = { type: 'input_image', image_url: picture, detail: 'low' } as const
        const input = [{ role: 'user' as const, content: [question, image] }]
        const { response, sent } = await turn(kind, { input })
        expect(textOf(response)).to.equal('A cat.')
        const asText = { type: 'text', text: 'What is this?' }
        const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' }
        expect(sent[kind === 'responses' ? 'input' : 'messages']).to.deep.equal(
          {
            responses: input,
            chat: [
              { role: 'user', content: [asText, { type: 'image_url', image_url: { url: picture, detail: 'low' } }] },
            ],
            messages: [{ role: 'user', content: [asText, { type: 'image', source }] }],
          }[kind],
        )
      })
    })
})

/** The text of the only message. */
function textOf({ output }: Response): string {
  const [item] = output
  const [part] = item?.type === 'message' ? item.content : []
  return part?.type === 'output_text' ? part.text : ''
}
