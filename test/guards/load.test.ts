import { expect } from 'chai'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import { wholeOf } from './rig.ts'

describe('guards: what takes long to judge', () => {
  let gateway: RunningGateway
  before(async () => {
    gateway = await startGateway({
      records: {
        guards: [
          {
            name: 'worst',
            kind: 'regex',
            patterns: ['(?:a|b)*?(?:a|b){200}c'],
            action: 'mask',
            timeout: '2s',
            default: false,
          },
          { name: 'words', kind: 'words', words: ['banana'], action: 'mask', timeout: '60s', default: false },
          { name: 'hasty', kind: 'words', words: ['banana'], timeout: '10ms', default: false },
        ],
      },
    })
  })
  after(() => gateway.close())

  it('is searched in a thread where there are many numbers, as it is where there are few', async () => {
    const upstream = await scriptedUpstream()
    const other = await startGateway({
      providers: [{ name: 'up', type: 'compatible', base_url: upstream.url, api_key: 'k' }],
      models: [{ name: 'up', provider: 'up' }],
      records: { guards: [{ name: 'pii', kind: 'pii', action: 'mask', timeout: '60s' }] },
    })
    try {
      upstream.answer({ body: wholeOf.chat({ text: ['Yes.'] }) })
      for (const numbers of [10, 30_000]) {
        const content = `${'12 a '.repeat(numbers)}ann@example.com`
        const { status } = await other.post('/v1/chat/completions', {
          model: 'up',
          messages: [{ role: 'user', content }],
        })
        expect(status).to.equal(200)
        const asked = JSON.parse(String(upstream.requests.at(-1)?.body)) as { messages: [{ content: string }] }
        expect(asked.messages[0].content).to.equal(`${'12 a '.repeat(numbers)}[EMAIL]`)
      }
    } finally {
      await other.close()
      await upstream.close()
    }
  }).timeout(60_000)

  it('is searched for words in a thread, where they are found as in a short text', async () => {
    const said = async (content: string, guard: string) => {
      const body = { model: 'echo', messages: [{ role: 'user', content }] }
      const response = await gateway.post('/v1/chat/completions', body, { 'x-gateway-guards': guard })
      return { status: response.status, text: await response.text() }
    }
    for (const times of [1, 200_000]) {
      const before = 'ｆｕｌｌ '.repeat(times)
      const { status, text } = await said(`${before}ｂａｎａｎａ and Banana, bananas`, 'words')
      expect(status, text.slice(0, 500)).to.equal(200)
      expect(text).to.contain('ｆｕｌｌ [WORDS] and [WORDS], bananas')
    }
    // A thread ends in its time.
    expect((await said('ｆｕｌｌ '.repeat(400_000), 'hasty')).status).to.equal(503)
  }).timeout(60_000)

  it('as a regular expression over a megabyte ends in its time, and holds no other request up', async function () {
    this.timeout(60_000)
    const ask = (content: string, headers: Record<string, string> = {}) =>
      gateway.post('/v1/chat/completions', { model: 'echo', messages: [{ role: 'user', content }] }, headers)
    await (await ask('warm')).text()
    const started = performance.now()
    const worst = ask(('ab'.repeat(120) + 'c').repeat(4_150), { 'x-gateway-guards': 'worst' })
    const state = { isOver: false }
    const over = worst.then((response) => {
      state.isOver = true
      return response
    })
    const waits: number[] = []
    while (!state.isOver) {
      const began = performance.now()
      await (await ask('hello')).text()
      waits.push(performance.now() - began)
    }
    const response = await over
    expect(response.status).to.equal(503)
    expect(performance.now() - started).to.be.below(2_000 + 5_000)
    // One of them parses the megabyte, and two busy cores share the rest.
    waits.sort((left, right) => left - right)
    expect(waits.length).to.be.above(5)
    expect(waits[Math.floor(waits.length / 2)]).to.be.below(250)
  })
})
