import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { Rig, answerOf, lanes, protocols, streamOf, wholeOf } from './rig.ts'

const guards = [
  { name: 'pii', kind: 'pii', action: 'mask', mask: 'token', entities: ['email'] },
  { name: 'hashed', kind: 'words', words: ['codename'], action: 'mask', mask: 'hash', side: ['input'] },
]
const ann = 'ann@example.com'

describe('guards: reversible masks', () => {
  const rig = new Rig(() => ({ records: { guards } }))

  for (const client of protocols)
    for (const model of lanes(client))
      it(`show ${client} the value and ${model} the token, whole and cut over events`, async () => {
        rig.upstream.answer({ body: wholeOf[model]({ text: ['Mail <EMAIL_1> and <EMAIL_7>.'] }) })
        const whole = await rig.ask(client, model, { text: `I am ${ann}.` })
        expect(rig.asked()).to.contain('I am <EMAIL_1>.').and.not.contain(ann)
        expect(whole.body).to.contain(`Mail ${ann} and <EMAIL_7>.`)
        rig.upstream.answer({ frames: streamOf[model]({ text: ['Mail <EM', 'AIL', '_1', '> now', ' <EMAIL'] }) })
        const streamed = await rig.ask(client, model, { text: `I am ${ann}.`, stream: true })
        expect(streamed.text, streamed.body).to.equal(`Mail ${ann} now <EMAIL`)
      })

  it('are restored in arguments as JSON, and in reasoning', async () => {
    rig.upstream.answer({
      frames: streamOf.messages({ reasoning: ['Ask <EMAIL_1>'], call: ['{"to":"<EMA', 'IL_1>"}'] }),
    })
    const { text } = await rig.ask('messages', 'messages', { text: `I am ${ann}.`, stream: true })
    expect(text).to.equal(`Ask ${ann}{"to":"${ann}"}`)
  })

  it('are numbered by first occurrence, skip numbers of the client, and are the same when a history is sent again', async () => {
    const first = { role: 'user', content: `Not <EMAIL_1>: bob@example.com, ${ann}, bob@example.com` }
    const ask = (messages: readonly JsonObject[]) => {
      rig.upstream.answer({ body: wholeOf.chat({ text: ['To <EMAIL_3>'] }) })
      return rig.gateway.post('/v1/chat/completions', { model: 'chat', messages })
    }
    const answer = (await (await ask([first])).json()) as { choices: [{ message: { content: string } }] }
    const before = rig.asked()
    expect(before).to.contain('Not <EMAIL_1>: <EMAIL_2>, <EMAIL_3>, <EMAIL_2>')
    expect(answer.choices[0].message.content).to.equal(`To ${ann}`)
    await ask([first, { role: 'assistant', content: `To ${ann}` }, { role: 'user', content: 'Again.' }])
    expect(rig.asked()).to.contain('"To <EMAIL_3>"')
    expect(rig.asked().slice(rig.asked().indexOf('Not'))).to.match(/^Not <EMAIL_1>: <EMAIL_2>, <EMAIL_3>, <EMAIL_2>/)
  })

  for (const stream of [false, true])
    it(`restore what the client has sent alone, whatever else it has sent${stream ? ', in a stream' : ''}`, async () => {
      for (const [asking, given] of [
        ['Hi', 'To <EMAIL_1>.'],
        [`I am ${ann}.`, 'To <EMAIL_2>.'],
        ['I know bob@example.com.', 'To bob@example.com.'],
      ] as const) {
        const text = ['To bob@exam', 'ple.com.']
        rig.upstream.answer(answerOf('chat', { text }, stream))
        const answer = await rig.ask('chat', 'chat', { text: asking, stream })
        expect(answer.text, asking).to.equal(given)
      }
    })

  it('leave the log and the stored response with tokens', async () => {
    rig.upstream.answer({ body: wholeOf.responses({ text: ['To <EMAIL_1>'] }) })
    const response = await rig.gateway.post('/v1/responses', { model: 'responses', input: `I am ${ann}.`, store: true })
    const body = (await response.json()) as { id: string }
    expect(JSON.stringify(body)).to.contain(`To ${ann}`)
    const stored = await fetch(`${rig.gateway.url}/v1/responses/${body.id}`, {
      headers: { authorization: `Bearer ${rig.gateway.key}` },
    })
    expect(await stored.text())
      .to.contain('To <EMAIL_1>')
      .and.not.contain(ann)
    const rows = await rig.gateway.rows()
    expect(JSON.stringify(rows)).not.to.contain(ann)
  })

  it('of the kind hash are the same for a key, and tell nothing', async () => {
    rig.upstream.answer({ body: wholeOf.chat({ text: ['Yes.'] }) })
    await rig.ask('chat', 'chat', { text: 'The codename and the codename' })
    expect(rig.asked()).to.match(/The \[HASHED:([0-9a-f]{8})\] and the \[HASHED:\1\]/)
  })
})

describe('guards: reversible masks of requests alone', () => {
  const only = { name: 'asked', kind: 'pii', action: 'mask', mask: 'token', entities: ['iban'], side: ['input'] }
  const rig = new Rig(() => ({ records: { guards: [only] } }))

  for (const stream of [false, true])
    it(`are restored${stream ? ', in a stream' : ''}`, async () => {
      const iban = 'DE89370400440532013000'
      const text = ['To <IBA', 'N_1>.']
      rig.upstream.answer(answerOf('chat', { text }, stream))
      const answer = await rig.ask('chat', 'chat', { text: `Mine is ${iban}.`, stream })
      expect(rig.asked()).to.contain('Mine is <IBAN_1>.')
      expect(answer.text).to.equal(`To ${iban}.`)
    })
})
