import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { parsedObject } from '../../../engine/kit.ts'
import type { RequestsTable } from '../../../plugins/request-log/table.ts'
import { redis } from '../../support/services.ts'
import type { Service } from '../../support/services.ts'
import type { Script } from '../../support/upstream.ts'
import { client, ended } from '../../service/background.ts'
import { openSession } from '../../service/responses-session.ts'
import { decides, noted, startJudged } from './rig.ts'
import type { Judged } from './rig.ts'

const text = 'Prove that there are infinitely many primes, and then find the flaw in the proof.'
const messages = [{ role: 'user', content: text }]

const models = [
  {
    name: 'mid',
    provider: 'serves',
    auto_eligible: true,
    quality_tier: 'balanced',
    pricing: { input: 200, output: 200 },
  },
  {
    name: 'large',
    provider: 'serves',
    auto_eligible: true,
    quality_tier: 'premium',
    pricing: { input: 400, output: 400 },
  },
]

/** The fields of the row of a routed request, besides the block. */
const flat = [
  'routing_complexity',
  'routing_confidence',
  'routing_reasoning',
  'routing_cost_estimate',
  'routing_savings',
  'routing_tier',
  'resolved_model',
]

describe('requests for virtual models with a judge', function () {
  this.timeout(60_000)
  let service: Service
  let judged: Judged
  before(async function () {
    service = await redis(this)
    judged = await startJudged({ models, key_value: { url: service.url } })
  })
  after(async () => {
    await judged?.close()
    await service?.stop()
  })

  /** Every exchange whose signals are less than sure is judged, and nothing is left to chance. */
  const settings = (shadow: boolean) => ({
    shadow,
    gate: { max_confidence: 1 },
    routing: { exploration: { enabled: false } },
  })
  const post = async (path: string, body: object) => {
    const answer = await judged.gateway.post(path, { model: 'auto', ...body })
    const words = await answer.text()
    expect(answer.status, words).to.equal(200)
    expect(words).to.contain('Hello there')
  }
  const socket = async () => {
    const session = await openSession(judged.gateway)
    try {
      const frames = await session.turn({ model: 'auto', input: text })
      expect(frames.at(-1)?.type).to.equal('response.completed')
    } finally {
      session.socket.close()
    }
  }

  const ways: readonly (readonly [string, string, () => Promise<void>])[] = [
    ['chat completions', 'chat', () => post('/v1/chat/completions', { messages })],
    ['messages', 'messages', () => post('/v1/messages', { messages, max_tokens: 100 })],
    ['responses', 'responses', () => post('/v1/responses', { input: text })],
    ['a socket of responses', 'responses', socket],
  ]

  /** The row of the request, what it notes, and the row of the judge. */
  const rows = async (count = 2) => {
    const all = (await judged.gateway.rows(already + count)).slice(already)
    const own = all.find(({ type }) => type !== 'judge') as RequestsTable
    const metadata = noted(own)
    return { own, metadata, routing: metadata['routing'] as JsonObject, row: all.find(({ type }) => type === 'judge') }
  }
  let already = 0
  const begin = async (shadow: boolean) => {
    await judged.begin(settings(shadow))
    already = (await judged.gateway.rows()).length
  }

  it('show it the texts of the user before the last one, also where nobody answered them', async () => {
    const texts = ['Here is a text.', 'Here is another one.', 'And a third one.', text]
    const said = texts.map((content) => ({ role: 'user', content }))
    for (const [turns, seen] of [
      [0, texts.slice(3)],
      [2, texts.slice(1)],
    ] as const) {
      await judged.begin({ ...settings(true), user_turns: turns })
      await post('/v1/chat/completions', { messages: said })
      expect(judged.question()['input']).to.equal(['images=0 tools=0 schema=0', ...seen].join('\n\n'))
    }
  })

  for (const [what, type, send] of ways) {
    it(`over ${what} do not wait for one in shadow, which changes nothing`, async () => {
      await begin(true)
      const said = Promise.withResolvers<Script>()
      judged.judge.answer(() => said.promise)
      await send()
      expect(judged.calls()).to.deep.equal({ judge: 1, main: 1 })
      // The client has its whole answer, and the judge has not said a word.
      said.resolve(decides('COMPLEX', [0.05, 0.1, 0.85]))
      const { own, metadata, routing, row } = await rows()
      expect(own).to.deep.include({ type, requested: 'auto', status: 200, result: 'completed', tier: 'MEDIUM' })
      expect(metadata).to.include.keys(flat)
      expect(routing).to.deep.include({ v: 1, mode: 'auto', tier: 'MEDIUM', served: own.model, error: null })
      expect(routing['judge']).to.deep.include({
        model: 'jury',
        request_id: row?.id,
        shadow: true,
        gate_fired: true,
        asked: true,
        verdict: 'COMPLEX',
        mass: 0.85,
        escalation: 0.85,
        applied: false,
        held: false,
        input_tokens: 188,
        cost: 0.000188,
        error: null,
      })
      expect(routing['notes']).not.to.include('judge=COMPLEX')
      expect((routing['actual'] as JsonObject)['judge_cost']).to.equal(0.000188)
      expect(row).to.deep.include({ parent: own.id, key_id: own.key_id, type: 'judge', status: 200 })
      expect(judged.question()['input']).to.equal(`images=0 tools=0 schema=0\n\n${text}`)
    })

    it(`over ${what} obey one that is not in shadow`, async () => {
      await begin(false)
      judged.judge.answer(decides('COMPLEX', [0, 0, 1]))
      await send()
      expect(judged.calls()).to.deep.equal({ judge: 1, main: 1 })
      const { own, metadata, routing } = await rows()
      expect(own.tier).to.equal('COMPLEX')
      expect(metadata).to.deep.include({ routing_tier: 'COMPLEX', routing_complexity: 0.835 })
      expect(metadata['routing_reasoning']).to.contain('judge=COMPLEX')
      expect(routing).to.deep.include({ tier: 'COMPLEX', complexity: 0.835 })
      expect(routing['ensemble']).to.deep.include({ tier: 'MEDIUM' })
      expect(routing['judge']).to.deep.include({ applied: true, shadow: false, verdict: 'COMPLEX' })
      expect(routing['diagnostics'] ?? {}).not.to.have.nested.property('signal_votes.judge')
    })
  }

  it('are compared by a benefit within the tier of its verdict, and by that of the signals otherwise', async () => {
    const seen = async (shadow: boolean, said: Script) => {
      await begin(shadow)
      judged.judge.answer(said)
      await post('/v1/chat/completions', { messages })
      const { routing } = await rows()
      const { benefit: told } = routing['ensemble'] as JsonObject
      return { tier: routing['tier'], benefit: routing['benefit'] as number, told, chosen: routing['chosen'] }
    }
    const hard = decides('COMPLEX', [0, 0, 1])
    const { benefit: usual } = await seen(true, hard)
    expect(usual, 'within MEDIUM').to.be.within(0.331, 0.668)
    expect(await seen(false, decides('MEDIUM', [0.1, 0.8, 0.1]))).to.include({ benefit: usual, told: undefined })
    expect(await seen(false, hard)).to.include({ tier: 'COMPLEX', benefit: 0.67, told: usual })
    expect(await seen(false, decides('SIMPLE', [1, 0, 0]))).to.include({ tier: 'SIMPLE', benefit: 0.329, told: usual })
  })

  it('are answered without one that never answers', async () => {
    await judged.begin({ ...settings(false), deadline_s: 0.2 })
    already = (await judged.gateway.rows()).length
    judged.judge.answer({ silent: true })
    await post('/v1/chat/completions', { messages })
    await judged.judge.closed()
    const { own, routing } = await rows()
    expect(own.tier).to.equal('MEDIUM')
    expect(routing['judge']).to.deep.include({ verdict: null, error: 'deadline' })
  })

  it('in the background are routed, and not judged', async () => {
    for (const shadow of [true, false]) {
      await begin(shadow)
      const at = client(judged.gateway)
      const begun = await at.responses.create({ model: 'auto', input: text, background: true })
      expect(await ended(at, begun.id)).to.deep.include({ status: 'completed', output_text: 'Hello there' })
      expect(judged.calls()).to.deep.equal({ judge: 0, main: 1 })
      const row = await judged.gateway.row(({ id }) => `resp_${id.replaceAll('-', '')}` === begun.id)
      expect(parsedObject(row.metadata)?.['routing']).to.deep.include({ judge: null, mode: 'auto' })
    }
  })

  it('are previewed without asking it', async () => {
    const preview = async (request: object) => {
      const { status, body } = await judged.gateway.asAdmin('POST /api/routing/preview', { request })
      expect(status).to.equal(200)
      return body['judge']
    }
    for (const shadow of [true, false]) {
      await begin(shadow)
      expect(await preview({ model: 'auto', messages })).to.deep.equal({ would_ask: true, because: 'gate_fired' })
      expect(await preview({ model: 'fast', messages })).to.deep.equal({ would_ask: false, because: 'mode' })
      expect(judged.calls()).to.deep.equal({ judge: 0, main: 0 })
    }
  })

  it('that a gate refuses ask nobody', async () => {
    await begin(false)
    const answer = await judged.gateway.post('/v1/chat/completions', {
      model: 'auto',
      messages,
      routing: { allow: ['nobody'] },
    })
    expect(answer.status).to.equal(400)
    expect(judged.calls()).to.deep.equal({ judge: 0, main: 0 })
  })

  it('ask nobody in later turns, nor do pinned models or requests that are only counted', async () => {
    await begin(false)
    const later = [...messages, { role: 'assistant', content: 'So?' }, { role: 'user', content: 'Go on.' }]
    await post('/v1/chat/completions', { messages: later })
    await post('/v1/chat/completions', { model: 'mid', messages })
    const counted = await judged.gateway.post('/v1/messages/count_tokens', { model: 'auto', messages })
    expect(counted.status).to.equal(200)
    expect(judged.calls()).to.deep.equal({ judge: 0, main: 2 })
  })
})
