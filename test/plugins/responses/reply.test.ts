import { expect } from 'chai'
import { GatewayError } from '../../../engine/index.ts'
import type { Json, JsonObject } from '../../../engine/index.ts'
import { parseReply } from '../../../plugins/responses/reply.ts'

function thrown(body: Json): GatewayError | undefined {
  try {
    parseReply(body)
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  return undefined
}

const said: JsonObject = {
  id: 'resp_1',
  object: 'response',
  created_at: 1_760_000_000,
  model: 'think-2',
  status: 'completed',
  service_tier: 'auto',
  output: [
    {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Hi', annotations: [{ type: 'file_citation', file_id: 'f' }] }],
    },
    { id: 'fco_1', type: 'function_call_output', call_id: 'call_1', output: 'x', status: 'completed' },
  ],
  usage: { input_tokens: 1, output_tokens: 2 },
}

describe('responses: whole answer', () => {
  it('reads one', () => {
    expect(parseReply(said)).to.deep.equal({
      id: 'resp_1',
      model: 'think-2',
      created: 1_760_000_000,
      items: [
        {
          type: 'message',
          role: 'assistant',
          content: [
            {
              type: 'text',
              text: 'Hi',
              annotations: [{ type: 'opaque', protocol: 'responses', value: { type: 'file_citation', file_id: 'f' } }],
            },
          ],
          id: 'msg_1',
        },
        { type: 'opaque', protocol: 'responses', value: (said['output'] as JsonObject[])[1] },
      ],
      stop: 'end',
      usage: { input: 1, cacheRead: 0, cacheWrite: 0, output: 2, reasoning: 0 },
    })
  })

  it('throws the failure of one that failed', () => {
    const error = thrown({ ...said, status: 'failed', error: { code: 'rate_limit_exceeded', message: 'Slow' } })
    expect(error?.failure).to.include({ status: 429, code: 'rate_limit_exceeded', message: 'Slow' })
    expect(thrown({ error: { code: 'invalid_prompt', message: 'Bad' } })?.failure).to.include({
      status: 400,
      code: 'invalid_prompt',
    })
    expect(thrown({ ...said, status: 'cancelled' })?.failure).to.include({
      status: 502,
      message: 'the response is cancelled',
    })
  })

  it('throws for what is no ended response', () => {
    for (const body of [null, [], 'text', {}, { ...said, output: null }, { ...said, status: 'queued' }]) {
      expect(thrown(body)?.code).to.equal('upstream_invalid_response')
    }
  })
})
