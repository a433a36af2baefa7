import { expect } from 'chai'
import { BackgroundRig, client, ended, says } from '../service/background.ts'

describe('guards: responses in the background', () => {
  const guards = [{ name: 'list', kind: 'words', words: ['sugar'], side: ['output'], default: false }]
  const rig = new BackgroundRig({ records: { guards } })

  it('are judged by the guards that the request has named', async () => {
    const at = client(rig.gateway)
    const asked = { model: 'chat', input: 'Hi', background: true } as const
    rig.upstream.answer(says('chat', 'some sugar'), says('chat', 'some sugar'))
    const begun = await at.responses.create(asked, { headers: { 'x-gateway-guards': 'list' } })
    const done = await ended(at, begun.id)
    expect(done.output_text).to.equal('The content was blocked.')
    const unnamed = await at.responses.create(asked)
    expect((await ended(at, unnamed.id)).output_text).to.equal('some sugar')
  })
})
