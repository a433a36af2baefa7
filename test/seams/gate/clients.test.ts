import { expect } from 'chai'
import type { GenerateEvent, Verdict } from '../../../engine/index.ts'
import { GatewayError } from '../../../engine/index.ts'
import { anthropic, openai } from '../../support/clients.ts'
import { Rig, everyKind, filter, gate, later } from './rig.ts'

const messages = [{ role: 'user', content: 'Hi' }] as const satisfies object[]

/** What an official client makes of a stream: its text, and why it ended. */
type Read = (rig: Rig, model: string) => Promise<{ readonly text: string; readonly stop: unknown }>

const clients: Readonly<Record<string, Read>> = {
  'chat completions of openai': async ({ gateway }, model) => {
    const run = openai(gateway).chat.completions.stream({ model, messages, stream_options: { include_usage: true } })
    const { choices, usage } = await run.finalChatCompletion()
    expect(usage?.completion_tokens).to.be.at.least(1)
    return { text: choices[0]?.message.content ?? '', stop: choices[0]?.finish_reason }
  },
  'responses of openai': async ({ gateway }, model) => {
    const run = openai(gateway).responses.stream({ model, input: 'Hi', store: false })
    let text = ''
    let stop: unknown
    for await (const event of run) {
      if (event.type === 'response.output_text.delta') text += event.delta
      if (event.type === 'response.incomplete') stop = event.response.incomplete_details?.reason
      if (event.type === 'response.completed') stop = event.response.status
    }
    return { text, stop }
  },
  'messages of anthropic': async ({ gateway }, model) => {
    const run = anthropic(gateway).messages.stream({ model, max_tokens: 99, messages })
    const { content, stop_reason: stop, usage } = await run.finalMessage()
    expect(usage.output_tokens).to.be.at.least(1)
    return { text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''), stop }
  },
}
const stops: Readonly<Record<string, string>> = {
  'chat completions of openai': 'content_filter',
  'responses of openai': 'content_filter',
  'messages of anthropic': 'refusal',
}

describe('an official client', () => {
  const rig = new Rig()

  for (const [name, read] of Object.entries(clients))
    for (const model of everyKind) {
      it(`ends cleanly after a stop in the middle of the text: ${name}, ${model}`, async () => {
        const judge = ({ texts }: { readonly texts: readonly { readonly text: string }[] }): Verdict =>
          texts.some(({ text }) => text.includes('there')) ? filter : 'pass'
        rig.act((answer) => answer.gate(() => gate({ characters: 1 }, later(judge))))
        rig.answer(model, 'Hello ', 'there')
        expect(await read(rig, model)).to.deep.equal({ text: 'Hello ', stop: stops[name] })
      })

      it(`reads another answer in place of the first: ${name}, ${model}`, async () => {
        const denial: readonly GenerateEvent[] = [
          { type: 'start' },
          { type: 'item', index: 0, item: { type: 'message', role: 'assistant', content: [] } },
          { type: 'part', index: 0, kind: 'text' },
          { type: 'delta', index: 0, text: 'No.' },
          { type: 'item-end', index: 0 },
          { type: 'finish', stop: 'filter', usage: { input: 9, cacheRead: 0, cacheWrite: 0, output: 4, reasoning: 0 } },
        ]
        rig.act((answer) =>
          answer.gate(() =>
            gate(
              {},
              later(() => ({ replace: denial })),
            ),
          ),
        )
        rig.answer(model, 'Hello ', 'there')
        expect(await read(rig, model)).to.deep.equal({ text: 'No.', stop: stops[name] })
      })

      it(`is told of a failure: ${name}, ${model}`, async () => {
        const fail = new GatewayError('refused', {}, { message: 'Not this.' })
        rig.act((answer) =>
          answer.gate(() =>
            gate(
              {},
              later(() => ({ fail })),
            ),
          ),
        )
        rig.answer(model, 'Hello ', 'there')
        const told = await read(rig, model).then(
          ({ stop }) => stop,
          (error: unknown) => String(error),
        )
        if (name !== 'responses of openai') expect(told).to.include('Not this.')
        else expect(told).to.not.equal('completed')
      })
    }
})
