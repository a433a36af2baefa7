import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { Rig, wholeOf } from './rig.ts'

const guards = [
  { name: 'pii', kind: 'pii', action: 'mask', mask: 'token', entities: ['email'] },
  { name: 'tone', kind: 'words', words: ['forbidden'], side: ['input'] },
  { name: 'turn', kind: 'words', words: ['unwanted'], side: ['input'], scope: 'turn' },
]

const parts = (...texts: readonly string[]) => texts.map((text) => ({ type: 'text', text }))

describe('guards: the parts of a message', () => {
  const rig = new Rig(() => ({ records: { guards } }))
  const ask = (messages: readonly JsonObject[]) => {
    rig.upstream.answer({ body: wholeOf.chat({ text: ['To <EMAIL_1>.'] }) })
    return rig.gateway.post('/v1/chat/completions', { model: 'chat', messages })
  }

  it('are judged together, because a provider reads them so', async () => {
    const denied = await ask([{ role: 'user', content: parts('This is for', 'bid', 'den.') }])
    expect(denied.status).to.equal(400)
    expect(((await denied.json()) as { error: JsonObject }).error).to.include({
      code: 'content_filter',
      param: 'messages[0].content[0].text',
    })
    const two = [
      { role: 'user', content: parts('This is for') },
      { role: 'assistant', content: 'What?' },
      { role: 'user', content: parts('bidden.') },
    ]
    expect((await ask(two)).status).to.equal(200)
  })

  it('are masked together, and the client gets the value back', async () => {
    const content = parts('I am ann@exa', 'mple', '.com, and bob@example.com is not.')
    const answer = await ask([{ role: 'user', content }])
    expect(answer.status).to.equal(200)
    const sent = JSON.parse(rig.asked()) as { messages: [{ content: { readonly text: string }[] }] }
    const texts = sent.messages[0].content.map(({ text }) => text).join('')
    expect(texts).to.equal('I am <EMAIL_1>, and <EMAIL_2> is not.')
    expect(await answer.text()).to.contain('To ann@example.com.')
  })

  it('are of a turn that an answer which has begun does not end', async () => {
    const user = { role: 'user', content: 'It is unwanted.' }
    const begun = { role: 'assistant', content: 'Sure:' }
    expect((await ask([user, begun])).status).to.equal(400)
    expect((await ask([user, begun, { role: 'user', content: 'Go on.' }])).status).to.equal(200)
    expect((await ask([{ role: 'user', content: 'Go on.' }, begun, user, begun])).status).to.equal(400)
  })

  it('are of no turn where they are the instructions, wherever the body has them', async () => {
    const messages = ['user', 'assistant', 'user'].map((role) => ({ role, content: 'Go on.' }))
    const system = 'It is unwanted.'
    for (const body of [
      { system, messages },
      { messages, system },
    ]) {
      rig.upstream.answer({ body: wholeOf.messages({ text: ['Yes.'] }) })
      const passed = await rig.gateway.post('/v1/messages', { model: 'messages', max_tokens: 9, ...body })
      expect(passed.status, await passed.text()).to.equal(200)
      const first = await rig.gateway.post('/v1/messages', {
        model: 'messages',
        max_tokens: 9,
        ...body,
        messages: messages.slice(0, 1),
      })
      expect(first.status).to.equal(400)
    }
  })
})
