import { expect } from 'chai'
import { leaks, drawn, secrets } from './corpus.ts'
import { Rig, lanes, protocols, streamOf, wholeOf } from './rig.ts'
import type { Protocol, Said } from './rig.ts'

const guards = [
  { name: 'pii', kind: 'pii', action: 'mask', side: ['input', 'output', 'tool_calls', 'tool_results'] },
  { name: 'secrets', kind: 'secrets', action: 'mask', side: ['input', 'output', 'tool_calls', 'tool_results'] },
]

describe('guards: values in streams', () => {
  const rig = new Rig(() => ({ records: { guards } }))

  for (const [at, client] of protocols.entries())
    for (const [lane, model] of lanes(client).entries())
      it(`never reach a client of ${client} from ${model}, cut in two`, async function () {
        this.timeout(240_000)
        for (const [number, { before, value, after }] of secrets.entries()) {
          // Each value goes through every protocol on one lane, in one part.
          if ((number + at + lane) % 2 === 1) continue
          const part = (['text', 'reasoning', 'call'] as const)[(number + at) % 3] as keyof Said
          const text = part === 'call' ? JSON.stringify({ value: before + value + after }) : before + value + after
          const cut = text.indexOf(before) + before.length + drawn(`${client} ${lane} ${number}`, value.length)
          const said = { [part]: [text.slice(0, cut), text.slice(cut)] }
          rig.upstream.answer({ frames: streamOf[model](said) })
          const { status, body, text: given } = await rig.ask(client, model, { stream: true })
          expect(status, body).to.equal(200)
          if (leaks(value, given) || leaks(value, body)) expect.fail(`${part} of ${number}: ${value}\n${body}`)
          expect(given, `${number} ${part} ${body}`).to.match(/\[[A-Z_]+\]/)
        }
      })

  it('never reach a client in whole answers', async function () {
    this.timeout(120_000)
    for (const [number, { before, value, after }] of secrets.entries()) {
      const client = protocols[number % 4] as Protocol
      const model = lanes(client)[Math.floor(number / 4) % 2] as Protocol
      const part = (['text', 'reasoning', 'call'] as const)[number % 3] as keyof Said
      const text = part === 'call' ? JSON.stringify({ value: before + value + after }) : before + value + after
      rig.upstream.answer({ body: wholeOf[model]({ [part]: [text] }) })
      const { status, body } = await rig.ask(client, model)
      expect(status, body).to.equal(200)
      if (leaks(value, body)) expect.fail(`${client} ${model} ${part} of ${number}: ${value}\n${body}`)
      expect(body, part).to.match(/\[[A-Z_]+\]/)
    }
  })

  it('never reach a provider', async function () {
    this.timeout(120_000)
    for (const [number, { before, value, after }] of secrets.entries()) {
      const client = protocols[number % 4] as Protocol
      const model = lanes(client)[Math.floor(number / 4) % 2] as Protocol
      rig.upstream.answer({ body: wholeOf[model]({ text: ['Yes.'] }) })
      const { status, body } = await rig.ask(client, model, { text: before + value + after })
      expect(status, body).to.equal(200)
      const asked = rig.asked()
      if (leaks(value, asked)) expect.fail(asked)
      expect(asked).to.match(/\[[A-Z_]+\]/)
    }
  })
})
