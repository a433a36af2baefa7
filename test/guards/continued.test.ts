import { zstdDecompressSync } from 'node:zlib'
import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { BackgroundRig, client, ended, says } from '../service/background.ts'
import { openSession } from '../service/responses-session.ts'
import { Rig, streamOf, wholeOf } from './rig.ts'

const guards = [{ name: 'pii', kind: 'pii', action: 'mask', mask: 'token', entities: ['email'] }]
const [ann, bob] = ['ann@example.com', 'bob@example.com']

/** A turn of a conversation as its client got it. */
interface Turn {
  readonly id: string
  /** Id of the first item. */
  readonly item: string
  readonly text: string
}

const turnOf = (body: string): Turn => {
  const { id, output } = JSON.parse(body) as { id: string; output: { id: string }[] }
  return { id, item: output[0]?.id ?? '', text: JSON.stringify(output) }
}

describe('guards: reversible masks of stored responses', () => {
  const rig = new Rig(() => ({ records: { guards } }))
  const read = async (path: string, method = 'GET') => {
    const headers = { authorization: `Bearer ${rig.gateway.key}` }
    const response = await fetch(`${rig.gateway.url}/v1/responses/${path}`, { method, headers })
    return { status: response.status, body: await response.text() }
  }
  const ask = async (
    model: 'responses' | 'chat',
    input: string | readonly JsonObject[],
    previous?: string,
  ): Promise<Turn> => {
    const more = previous === undefined ? {} : { previous_response_id: previous }
    const response = await rig.gateway.post('/v1/responses', { model, input, ...more })
    const body = await response.text()
    expect(response.status, body).to.equal(200)
    return turnOf(body)
  }
  const answer = (model: 'responses' | 'chat', text: string) => {
    const body: JsonObject = wholeOf[model]({ text: [text] })
    rig.upstream.answer({ body })
  }

  for (const model of ['responses', 'chat'] as const)
    it(`restore the values of all turns before, at ${model}, and number on from them`, async () => {
      answer(model, 'To <EMAIL_1>')
      const first = await ask(model, `I am ${ann}.`)
      expect(first.text).to.contain(`To ${ann}`)
      answer(model, 'From <EMAIL_1> to <EMAIL_2>')
      const second = await ask(model, `He is ${bob}, I am ${ann}.`, first.id)
      expect(rig.asked()).to.contain('He is <EMAIL_2>, I am <EMAIL_1>.').and.not.contain('@example.com')
      expect(second.text).to.contain(`From ${ann} to ${bob}`)
      answer(model, 'Both, <EMAIL_1> and <EMAIL_2>, not <EMAIL_3>')
      const third = await ask(model, 'Who?', second.id)
      expect(third.text).to.contain(`Both, ${ann} and ${bob}, not <EMAIL_3>`)
      const kept = await read(third.id)
      expect(kept.body).to.contain('Both, <EMAIL_1> and <EMAIL_2>').and.not.contain('@example.com')
      rig.upstream.answer({ frames: streamOf[model]({ text: ['So <EM', 'AIL_2>', '.'] }) })
      const body = { previous_response_id: third.id }
      const streamed = await rig.ask('responses', model, { stream: true, text: 'Who?', body })
      expect(streamed.text, streamed.body).to.equal(`So ${bob}.`)
    })

  it('are not restored where the value was masked in an answer, until the client sends it itself', async () => {
    answer('chat', `Ask ${bob}`)
    const first = await ask('chat', `I am ${ann}.`)
    expect(first.text).to.contain('Ask <EMAIL_2>')
    answer('chat', 'To <EMAIL_2> or <EMAIL_1>')
    const second = await ask('chat', 'Whom?', first.id)
    expect(second.text).to.contain(`To <EMAIL_2> or ${ann}`)
    answer('chat', 'To <EMAIL_2>')
    const third = await ask('chat', `To ${bob}?`, second.id)
    expect(rig.asked()).to.contain('To <EMAIL_2>?').and.not.contain('@example.com')
    expect(third.text).to.contain(`To ${bob}`)
    answer('chat', 'Still <EMAIL_2>')
    expect((await ask('chat', 'Again.', third.id)).text).to.contain(`Still ${bob}`)
  })

  it('are not restored where they stand for different values in the conversations of which items come', async () => {
    answer('chat', 'To <EMAIL_1>')
    const [first, other] = [await ask('chat', `I am ${ann}.`), await ask('chat', `I am ${bob}.`)]
    const items = [
      { type: 'item_reference', id: other.item },
      { role: 'user', content: `Whom? I am ${ann}.` },
    ]
    answer('chat', 'Ask <EMAIL_1> or <EMAIL_2>')
    const mixed = await ask('chat', items, first.id)
    expect(rig.asked()).to.contain('Whom? I am <EMAIL_2>.').and.not.contain('@example.com')
    expect(mixed.text).to.contain(`Ask <EMAIL_1> or ${ann}`)
    answer('chat', 'Still <EMAIL_1> or <EMAIL_2>, or <EMAIL_3>')
    const next = await ask('chat', `And ${bob}?`, mixed.id)
    expect(next.text).to.contain(`Still <EMAIL_1> or ${ann}, or ${bob}`)
    answer('chat', 'He is <EMAIL_1>, I am <EMAIL_2>')
    expect((await ask('chat', items)).text, 'the other alone').to.contain(`He is ${bob}, I am ${ann}`)
  })

  it('are none of those in what only the provider can read', async () => {
    const compaction = { type: 'compaction', id: 'c', encrypted_content: 'b3BhcXVl' }
    const said = (text: string) => ({ type: 'message', role: 'user', content: text })
    const tokensOf = (text: string) => text.match(/<EMAIL_\d+>/g) ?? []
    answer('responses', 'Of <EMAIL_1>')
    const first = await ask('responses', [compaction, said(`I am ${ann}.`)])
    const [token = ''] = tokensOf(rig.asked())
    expect(token).to.match(/_\d{4,6}>$/)
    expect(first.text).to.contain('Of <EMAIL_1>').and.not.contain(ann)
    answer('responses', `Of ${token}`)
    const again = await ask('responses', [compaction, said(`I am ${ann}.`), said(`He is ${bob}.`)])
    expect(tokensOf(rig.asked())[0]).to.equal(token)
    expect(again.text).to.contain(`Of ${ann}`)
    const inConversation = async () => {
      answer('responses', 'Of <EMAIL_1>')
      const asking = { model: 'responses', input: `I am ${ann}.`, conversation: 'conv_1' }
      const response = await rig.gateway.post('/v1/responses', asking)
      expect(await response.text())
        .to.contain('Of <EMAIL_1>')
        .and.not.contain(ann)
      return tokensOf(rig.asked())[0]
    }
    expect(await inConversation())
      .to.match(/_\d{4,6}>$/)
      .and.not.equal(await inConversation())
  })

  it('go with a conversation that the gateway has compacted', async () => {
    const response = await rig.gateway.post('/v1/responses/compact', { model: 'chat', input: `I am ${bob}.` })
    const { output } = (await response.json()) as { output: readonly JsonObject[] }
    answer('chat', 'He is <EMAIL_1>, I am <EMAIL_2>')
    const after = await ask('chat', [...output, { role: 'user', content: `I am ${ann}.` }])
    expect(rig.asked()).to.contain('I am <EMAIL_1>.').and.contain('I am <EMAIL_2>.').and.not.contain('@example.com')
    expect(after.text).to.contain(`He is ${bob}, I am ${ann}`)
    answer('chat', 'To <EMAIL_1>')
    const first = await ask('chat', `I am ${ann}.`)
    answer('chat', 'Ask <EMAIL_1>')
    expect((await ask('chat', [...output, { role: 'user', content: 'Whom?' }], first.id)).text).to.contain(
      'Ask <EMAIL_1>',
    )
  })

  it('are sealed beside the response, and end with it', async () => {
    const values = async () => {
      const rows = await rig.gateway.engine.database.query.selectFrom('key_values').select(['key', 'value']).execute()
      return new Map(
        rows.flatMap(({ key, value }) =>
          key.startsWith('response:') ? [[key.slice(9), zstdDecompressSync(value).toString()] as const] : [],
        ),
      )
    }
    answer('chat', 'To <EMAIL_1>')
    const first = await ask('chat', `I am ${ann}.`)
    answer('chat', 'To <EMAIL_1>')
    const second = await ask('chat', 'Again.', first.id)
    const before = await values()
    for (const { id } of [first, second]) expect(before.get(id)).to.contain('"tokens":').and.not.contain(ann)
    expect((await read(first.id, 'DELETE')).status).to.equal(200)
    const after = await values()
    // The turn stays for the one that continues it, which has its values.
    expect(after.get(first.id)).not.to.contain('"tokens":')
    answer('chat', 'Still <EMAIL_1>')
    const third = await ask('chat', 'And now?', second.id)
    expect(third.text).to.contain(`Still ${ann}`)
    for (const { id } of [third, second]) expect((await read(id, 'DELETE')).status).to.equal(200)
    expect([...(await values()).values()].join('')).not.to.contain(first.id)
  })

  it('are restored over a socket, also of a response that nobody stores', async () => {
    const session = await openSession(rig.gateway)
    const say = (text: string) => rig.upstream.answer({ frames: streamOf.chat({ text: [text] }) })
    say('To <EMAIL_1>')
    const first = await session.turn({ model: 'chat', input: `I am ${ann}.`, store: false })
    const { id } = first.at(-1)?.response ?? {}
    say('From <EMAIL_1> to <EMAIL_2>')
    const second = await session.turn({ model: 'chat', input: `And ${bob}?`, store: false, previous_response_id: id })
    expect(rig.asked()).to.contain('And <EMAIL_2>?').and.not.contain('@example.com')
    expect(JSON.stringify(second.at(-1))).to.contain(`From ${ann} to ${bob}`)
    session.socket.close(1000)
    await session.closed
  })
})

describe('guards: reversible masks of a model', () => {
  const rig = new Rig(() => ({
    records: { guards: [{ ...guards[0], default: false }] },
    models: [{ name: 'careful', provider: 'chat', guards: ['pii'] }],
  }))

  it('keep their numbers from turn to turn, and are what is stored', async () => {
    const ask = async (input: string, text: string, more: JsonObject = {}) => {
      rig.upstream.answer({ body: wholeOf.chat({ text: [text] }) })
      const response = await rig.gateway.post('/v1/responses', { model: 'careful', input, ...more })
      return turnOf(await response.text())
    }
    const first = await ask(`I am ${ann}.`, 'To <EMAIL_1>')
    const second = await ask(`He is ${bob}.`, 'To <EMAIL_2>, <EMAIL_1>', { previous_response_id: first.id })
    expect(second.text).to.contain(`To ${bob}, ${ann}`)
    const sent = rig.asked()
    expect(sent).to.contain('I am <EMAIL_1>.').and.contain('"To <EMAIL_1>"').and.contain('He is <EMAIL_2>.')
    expect(sent).not.to.contain('@example.com')
    const headers = { authorization: `Bearer ${rig.gateway.key}` }
    const items = await fetch(`${rig.gateway.url}/v1/responses/${second.id}/input_items`, { headers })
    expect(await items.text())
      .to.contain('He is <EMAIL_2>.')
      .and.not.contain('@example.com')
  })
})

describe('guards: reversible masks of responses in the background', () => {
  const rig = new BackgroundRig({ records: { guards } })

  it('are known to the job, and to the response that continues it', async () => {
    const at = client(rig.gateway)
    rig.upstream.answer(says('chat', `Ask <EMAIL_1> or ${bob}`))
    const begun = await at.responses.create({ model: 'chat', input: `I am ${ann}.`, background: true })
    const done = await ended(at, begun.id)
    // Nobody waits for it: it is as it is stored.
    expect(done.output_text).to.equal('Ask <EMAIL_1> or <EMAIL_2>')
    rig.upstream.answer(says('chat', 'To <EMAIL_1> and <EMAIL_2>'))
    const next = await at.responses.create({ model: 'chat', input: 'Whom?', previous_response_id: begun.id })
    // The client has not sent the other one.
    expect(next.output_text).to.equal(`To ${ann} and <EMAIL_2>`)
    const more = { model: 'chat', input: `And ${bob}?`, previous_response_id: begun.id, background: true } as const
    rig.upstream.answer(says('chat', 'Yes, <EMAIL_2>'))
    const third = await at.responses.create(more)
    await ended(at, third.id)
    expect(String(rig.upstream.requests.at(-1)?.body)).to.contain('And <EMAIL_2>?')
    rig.upstream.answer(says('chat', 'So <EMAIL_1>, <EMAIL_2>'))
    const last = await at.responses.create({ model: 'chat', input: 'Well?', previous_response_id: third.id })
    expect(last.output_text).to.equal(`So ${ann}, ${bob}`)
  })
})
