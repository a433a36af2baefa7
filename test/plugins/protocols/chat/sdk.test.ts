import { expect } from 'chai'
import { ChatCompletionStream } from 'openai/lib/ChatCompletionStream'
import { unfold } from '../../../../engine/kit.ts'
import type { GenerateReply, JsonObject } from '../../../../engine/index.ts'
import { asked, body, origin, reply, request, write } from './support.ts'

const answer: GenerateReply = {
  created: 5,
  items: [
    { type: 'reasoning', parts: [{ kind: 'text', text: 'one' }], seal: { kind: 'signature', data: 's1' } },
    { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Let me look.' }] },
    { type: 'reasoning', parts: [], seal: { kind: 'redacted', data: 'r' } },
    { type: 'call', kind: 'function', callId: 'a', name: 'f', input: '{"x":1}' },
    { type: 'reasoning', parts: [{ kind: 'text', text: 'two' }], seal: { kind: 'signature', data: 's2' } },
    { type: 'call', kind: 'function', callId: 'b', name: 'g', input: '' },
  ],
  stop: 'tool',
  usage: { input: 3, cacheRead: 2, cacheWrite: 1, output: 4, reasoning: 5 },
}

/** What the official SDK makes of a stream. */
function streamed(of: GenerateReply): ChatCompletionStream {
  const chunks = write(unfold(of), asked({ stream_options: { include_usage: true } })).filter(
    (chunk) => chunk !== '[DONE]',
  )
  const lines = chunks.map((chunk) => `${JSON.stringify(chunk)}\n`).join('')
  return ChatCompletionStream.fromReadableStream(new Blob([lines]).stream() as ReadableStream)
}

describe('chat stream in the official SDK', () => {
  it('is the same answer as the whole one', async () => {
    const completion = JSON.parse(JSON.stringify(await streamed(answer).finalChatCompletion())) as JsonObject
    const { body: whole } = reply.print(answer, asked())
    const [got] = completion['choices'] as [{ message: JsonObject; finish_reason: string }]
    const [expected] = whole['choices'] as [{ message: JsonObject }]
    const { reasoning_content: _text, ...message } = expected.message
    expect(completion['usage']).to.deep.equal(whole['usage'])
    expect(got.finish_reason).to.equal('tool_calls')
    expect(got.message).to.deep.include(message)
  })

  it('comes back with every block in its place', async () => {
    const message = JSON.parse(JSON.stringify(await streamed(answer).finalMessage())) as JsonObject
    expect(request.parse(body({ messages: [message] })).items).to.deep.equal(
      answer.items.map((item) => {
        if (item.type === 'reasoning' && item.seal) return { ...item, seal: { origin, ...item.seal } }
        return item.type === 'call' && item.input === '' ? { ...item, input: '{}' } : item
      }),
    )
  })
})
