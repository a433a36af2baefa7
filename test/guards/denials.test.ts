import { expect } from 'chai'
import { Rig, protocols, streamOf, wholeOf } from './rig.ts'
import type { Protocol } from './rig.ts'

const guards = [
  {
    name: 'list',
    kind: 'words',
    words: ['forbidden fruit'],
    message: 'Not here.',
    side: ['input', 'output', 'tool_calls'],
  },
  { name: 'pears', kind: 'words', words: ['pear'], default: false },
]

/** How each protocol says that a filter has ended an answer. */
const ends: Readonly<Record<Protocol, RegExp>> = {
  chat: /"finish_reason":"content_filter"/,
  messages: /"stop_reason":"refusal"/,
  responses: /"incomplete_details":\{"reason":"content_filter"\}/,
  gemini: /"finishReason":"SAFETY"/,
}

/** What ends a stream of each protocol. */
const last: Readonly<Record<Protocol, RegExp>> = {
  chat: /data: \[DONE\]\s*$/,
  messages: /event: message_stop\ndata: \{"type":"message_stop"\}\s*$/,
  responses: /event: response\.incomplete\n[^\n]*\s*(data: \[DONE\]\s*)?$/,
  gemini: /"finishReason":"SAFETY"[^\n]*\s*$/,
}

describe('guards: denials', () => {
  const rig = new Rig(() => ({ records: { guards } }))

  for (const client of protocols)
    for (const model of [client, client === 'messages' ? 'chat' : 'messages'] as const) {
      it(`of a request end it in the error shape of ${client}, and nobody is asked (${model})`, async () => {
        const before = rig.upstream.requests.length
        const { status, body, headers } = await rig.ask(client, model, {
          text: 'Eat the Forbidden  fruit. Eat the FORBIDDEN fruit!',
        })
        expect(status, body).to.equal(400)
        expect(body)
          .to.contain('Not here.')
          .and.not.match(/forbidden/i)
        expect(headers.get('x-gateway-guards')).to.equal('list=denied')
        expect(rig.upstream.requests.length).to.equal(before)
        if (client === 'chat')
          expect(JSON.parse(body)).to.deep.include({
            error: {
              message: 'Not here.',
              type: 'invalid_request_error',
              param: 'messages[0].content',
              code: 'content_filter',
            },
          })
      })

      it(`of a whole answer end it as ${client} does, with its usage (${model})`, async () => {
        rig.upstream.answer({ body: wholeOf[model]({ text: ['A forbidden fruit.'], call: ['{"a":1}'] }) })
        const { status, body, headers } = await rig.ask(client, model)
        expect(status, body).to.equal(200)
        expect(body)
          .to.match(ends[client])
          .and.contain('Not here.')
          .and.not.match(/forbidden|send/)
        expect(headers.get('x-gateway-guards')).to.equal('list=denied')
        expect(body).to.match(/"(prompt_tokens|input_tokens|promptTokenCount)":9/)
      })

      it(`of a stream end it as ${client} does, before the first character (${model})`, async () => {
        const text = ['I would never eat that which is a forb', 'idden', ' fruit of the tree', ' in the garden']
        rig.upstream.answer({ frames: streamOf[model]({ text }) })
        const { status, body, text: given } = await rig.ask(client, model, { stream: true })
        expect(status, body).to.equal(200)
        expect(body).to.match(ends[client]).and.match(last[client])
        expect(given.replaceAll('Not here.', '')).to.satisfy((one: string) => text.join('').startsWith(one), body)
        expect(body).not.to.match(/forb|idden/)
        expect(body).not.to.match(/"error":[{]/)
      })

      it(`of the first words of a stream say the message (${model}, ${client})`, async () => {
        rig.upstream.answer({ frames: streamOf[model]({ text: ['forbidden', ' fruit'] }) })
        const { body, text } = await rig.ask(client, model, { stream: true })
        expect(text, body).to.equal('Not here.')
        expect(body).to.match(ends[client]).and.match(last[client])
      })

      it(`of a call let no part of it out (${model}, ${client})`, async () => {
        const call = ['{"to":"a ', 'forbidden fru', 'it"}']
        rig.upstream.answer({ frames: streamOf[model]({ call }) })
        const { body, text } = await rig.ask(client, model, { stream: true })
        expect(text, body).to.equal('Not here.')
        expect(body).not.to.match(/send|forbidden/)
        rig.upstream.answer({ body: wholeOf[model]({ call }) })
        const whole = await rig.ask(client, model)
        expect(whole.body)
          .to.contain('Not here.')
          .and.not.match(/send|forbidden/)
      })
    }

  for (const model of ['messages', 'chat'] as const)
    for (const text of [
      ['forbidden', ' fruit'],
      ['Of all that grows in the garden, nobody eats the ', 'forbidden', ' fruit'],
    ])
      it(`tell a client of a stream the usage of its row (${model}, ${text.length} pieces)`, async () => {
        const all = streamOf[model]({ text: [...text, ' of the tree' + ' and more'.repeat(200)] })
        const until = all.findIndex((one) => JSON.stringify(one).includes(' of the tree'))
        rig.upstream.answer({ frames: all.slice(0, until + 1), ending: 'hang' })
        const answer = await rig.ask('messages', model, { stream: true })
        const { body, data } = answer
        expect(body).to.match(ends.messages)
        const { usage } = data.find(({ type }) => type === 'message_delta') as { usage: { output_tokens: number } }
        const row = await rig.rowOf(answer)
        expect(usage.output_tokens).to.equal(row.output_tokens)
        expect(usage.output_tokens).to.be.above(1)
      })

  it('name the place in what the client has sent, not in the conversation that it continues', async () => {
    const ask = async (more: object) => {
      rig.upstream.answer({ body: wholeOf.chat({ text: ['A forbidden', ' pear.'] }) })
      const response = await rig.gateway.post('/v1/responses', { model: 'chat', ...more })
      return (await response.json()) as { readonly id: string; readonly error: { readonly param: string } | null }
    }
    const { id } = await ask({ input: 'Hi' })
    const said = { role: 'user', content: 'Hi again' }
    const parts = ['forbidden', ' fruit'].map((text) => ({ type: 'input_text', text }))
    for (const [input, param] of [
      ['A forbidden fruit', 'input'],
      [[said, { role: 'user', content: 'A forbidden fruit' }], 'input[1].content'],
      [[said, { role: 'user', content: parts }], 'input[1].content[0].text'],
    ] as const)
      expect((await ask({ input, previous_response_id: id })).error).to.include({ param })
    const headers = { 'x-gateway-guards': 'pears' }
    const old = await rig.gateway.post(
      '/v1/responses',
      { model: 'chat', input: 'Hi', previous_response_id: id },
      headers,
    )
    expect(await old.json()).to.have.nested.property('error.param', 'previous_response_id')
  })

  it('are in the rows, without what was found', async () => {
    rig.upstream.answer({ body: wholeOf.chat({ text: ['A forbidden fruit.'] }) })
    const row = await rig.rowOf(await rig.ask('chat', 'chat'))
    const { guards: told, guarded } = JSON.parse(row.metadata) as { guards: readonly object[]; guarded: string }
    expect(guarded).to.equal('denied')
    expect(told[0]).to.include({ name: 'list', kind: 'words', side: 'input', outcome: 'passed', hits: 0, windows: 1 })
    expect(told[1]).to.include({
      name: 'list',
      side: 'output',
      action: 'deny',
      outcome: 'denied',
      hits: 1,
      shadow: false,
    })
    expect(JSON.stringify(row) + rig.gateway.lines.join('')).not.to.match(/forbidden/i)
    expect(row.output_tokens).to.equal(4)
  })
})
