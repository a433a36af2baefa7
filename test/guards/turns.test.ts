import { expect } from 'chai'
import { apiKey as key, leaks } from './corpus.ts'
import { Rig, askOf, lanes, protocols } from './rig.ts'
import { answerOfTurn, refusingStream, streamOfTurn } from './turns.ts'
import type { Turn } from './turns.ts'

const base = { kind: 'secrets', entities: ['api_key'], side: ['output', 'tool_calls'], default: false, message: 'No.' }
const guards = [
  { ...base, name: 'mask', action: 'mask' },
  { ...base, name: 'deny', action: 'deny' },
  { ...base, name: 'texts', action: 'mask', side: ['output'] },
  { ...base, name: 'keys', action: 'mask', entities: ['private_key'] },
  { ...base, name: 'seen', action: 'deny', shadow: true },
]

/** What a client has read when all of the words have come, though its answer has no end. */
async function readUntil(response: Response, words: readonly string[]): Promise<string> {
  let body = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    body += decoder.decode(chunk, { stream: true })
    if (words.every((word) => body.includes(word))) break
  }
  return body
}

const between: Readonly<Record<string, Turn>> = {
  'the next text': [],
  reasoning: [{ reasoning: ['Let me see.'] }],
  'a call': [{ call: '{"to":"Ann"}' }],
  'a short text': [{ text: [key.slice(10, 20)] }],
}

describe('guards: a value that goes on in the next part', () => {
  const rig = new Rig(() => ({ records: { guards } }))

  for (const client of protocols)
    for (const model of lanes(client))
      for (const [name, middle] of Object.entries(between))
        for (const stream of [true, false])
          it(`reaches no client of ${client} from ${model}, over ${name}${stream ? ', in a stream' : ''}`, async () => {
            const rest = name === 'a short text' ? key.slice(20) : key.slice(10)
            const turn: Turn = [
              { text: ['The key is ', key.slice(0, 6), key.slice(6, 10)] },
              ...middle,
              { text: [rest, ', and so on.'] },
            ]
            const answer = answerOfTurn(model, turn, stream)
            for (const guard of ['mask', 'deny']) {
              rig.upstream.answer(answer)
              const { status, body, text } = await rig.ask(client, model, {
                stream,
                headers: { 'x-gateway-guards': guard },
              })
              expect(status, body).to.equal(200)
              expect(text, body).not.to.contain(key.slice(0, 6))
              expect(leaks(key, body), body).to.equal(false)
              if (guard === 'deny') continue
              expect(text).to.contain('The key is [API_KEY]').and.to.contain(', and so on.')
              if (name === 'a call') expect(text).to.contain('Ann')
            }
          })

  for (const client of protocols)
    it(`reaches no client of ${client} over a refusal, nor from that on`, async () => {
      const cuts = [
        [['The key is ', key.slice(0, 10)], 'I cannot.', [key.slice(10), ', and so on.']],
        [['The key is '], key.slice(0, 10), [key.slice(10), ', and so on.']],
        [['The key is ', key.slice(0, 10)], key.slice(10), [', and so on.']],
      ] as const
      for (const [before, refusal, after] of cuts)
        for (const guard of ['mask', 'deny']) {
          rig.upstream.answer({ frames: refusingStream(before, refusal, after) })
          const headers = { 'x-gateway-guards': guard }
          const { status, body, text } = await rig.ask(client, 'chat', { stream: true, headers })
          expect(status, body).to.equal(200)
          for (const part of [key.slice(0, 10), key.slice(10, 20)]) expect(body).not.to.contain(part)
          expect(leaks(key, body), body).to.equal(false)
          if (guard === 'mask') expect(text).to.contain('The key is ').and.to.contain(', and so on.')
        }
    })

  it('waits for no more than a match can be long, and other items pass it', async () => {
    const long = 'and so on, '.repeat(60)
    const turn: Turn = [{ reasoning: ['Let me see.'] }, { text: ['Here.'] }, { call: '{"to":"Ann"}' }, { text: [long] }]
    const headers = { 'x-gateway-guards': 'texts' }
    const ask = (stream: Turn) => {
      rig.upstream.answer({ frames: streamOfTurn.chat(stream).slice(0, -2), ending: 'hang' })
      const { path, body } = askOf('chat', { model: 'chat', stream: true })
      return rig.gateway.post(path, body, headers)
    }
    // What follows the text begins before the upstream has said anything else.
    expect(await readUntil(await ask(turn.slice(0, 3)), ['Ann']))
      .to.contain('see.')
      .and.not.to.contain('Here.')
    expect(await readUntil(await ask(turn), ['Here.'])).to.contain('Ann')
  })

  it('is seen in shadow, once', async () => {
    const turn: Turn = [{ text: ['The key is ', key.slice(0, 10)] }, { text: [key.slice(10), ', and so on.'] }]
    for (const stream of [true, false]) {
      rig.upstream.answer(answerOfTurn('messages', turn, stream))
      const answer = await rig.ask('messages', 'messages', { stream, headers: { 'x-gateway-guards': 'seen' } })
      const [told] = await rig.verdictsOf(answer)
      expect(told).to.include({ name: 'seen', side: 'output', outcome: 'denied', hits: 1 })
    }
  })

  it('hides all of a key of many lines, wherever the part ends', async () => {
    const lines = Array.from({ length: 40 }, (_, index) => `${index}`.padStart(64, 'aB3d'))
    const text = ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----'].join('\n')
    for (const at of [20, 40, 100, 700, 2_000]) {
      const turn: Turn = [
        { text: ['It is ', text.slice(0, at)] },
        { reasoning: ['Hm.'] },
        { text: [text.slice(at), ' now.'] },
      ]
      for (const model of lanes('chat'))
        for (const stream of [true, false]) {
          rig.upstream.answer(answerOfTurn(model, turn, stream))
          const { body, text: given } = await rig.ask('chat', model, {
            stream,
            headers: { 'x-gateway-guards': 'keys' },
          })
          expect(given.replace('Hm.', ''), `${at} ${body}`).to.match(/^It is \[PRIVATE_KEY\]\s+now\.$/)
        }
    }
  })
})
