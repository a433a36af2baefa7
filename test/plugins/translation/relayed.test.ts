import { expect } from 'chai'
import type { Flow, Sink, Source } from '../../../engine/index.ts'
import { byteBudgetOf, collect, encodeFrame } from '../../../engine/kit.ts'
import chat from '../../../plugins/protocols/chat/codec.ts'
import { relayed } from '../../../plugins/translation/relayed.ts'

const still: Flow = { pause: () => undefined, resume: () => undefined, cancel: () => undefined }

/** Each text as a read of its own. */
function reads(texts: readonly string[]): Source {
  return {
    open(sink) {
      queueMicrotask(() => {
        for (const text of texts) sink.data(Buffer.from(text))
        sink.end()
      })
      return still
    },
  }
}

const chunk = (fields: object) => encodeFrame({ data: JSON.stringify({ id: 'chatcmpl-1', model: 'm', ...fields }) })
const delta = (content: string, finish: string | null = null) =>
  chunk({ choices: [{ index: 0, delta: { content }, finish_reason: finish }] })

const asked = { stream: true, stream_options: { include_usage: true } }

const settings = { resilience: { max_event_bytes: 65_536 } }
const exchange = {
  codec: chat,
  candidate: { model: { name: 'm' } },
  host: { scrub: (text: string) => text, byteBudget: byteBudgetOf(0), catalog: { settings } },
  scope: { id: 'exchange' },
  request: { sent: asked },
  upstream: { losses: [] },
} as unknown as Parameters<typeof relayed>[0]

describe('a relayed stream', () => {
  it('has its usage, also with 7 KiB of other events after it', async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
    const words = Array.from({ length: 400 }, (_, index) => delta(`word ${index} `))
    const other = chunk({ choices: [] })
    const after = Array.from({ length: Math.ceil(7_168 / other.length) }, () => other)
    const texts = [...words, delta('', 'stop'), chunk({ choices: [], usage }), ...after, 'data: [DONE]\n\n']
    const { body, measurement } = relayed(exchange, reads(texts))
    if (body.kind !== 'stream') throw new Error('it is no stream')
    expect((await collect(body.source, 1e6)).toString()).to.equal(texts.join(''))
    expect(measurement.read()).to.deep.include({ id: 'chatcmpl-1', stop: 'end', complete: true })
    expect(measurement.read().usage).to.include({ input: 10, output: 5 })
  })
  it('goes on inside a large event, whatever the model says there', async () => {
    const texts = [
      delta('x'.repeat(100_000)).slice(0, 80_000),
      'data: {"error":{"message":"said the model"}}',
      '"}}]}\n\n',
    ]
    const { body } = relayed(exchange, reads([...texts, delta('', 'stop'), 'data: [DONE]\n\n']))
    if (body.kind !== 'stream') throw new Error('it is no stream')
    expect((await collect(body.source, 1e6)).toString()).to.include(texts.join(''))
  })

  it('lets nothing come between the pieces of an event that is too large to be held', () => {
    const large = delta('x'.repeat(100_000), 'stop')
    let sink: Sink | undefined
    const { body } = relayed(exchange, { open: (reader) => ((sink = reader), still) })
    if (body.kind !== 'stream') throw new Error('it is no stream')
    body.source.open({ data: () => undefined, end: () => undefined, fail: () => undefined })
    const silent = () => body.keepalive?.()?.toString()
    sink?.data(Buffer.from(delta('one') + large.slice(0, 80_000)))
    expect(silent()).to.equal(undefined)
    sink?.data(Buffer.from(large.slice(80_000)))
    expect(silent()).to.equal(': keepalive\n\n')
  })
})
