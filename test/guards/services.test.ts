import { createHmac } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { until } from '../support/until.ts'
import { Rig, answerOf, protocols, streamOf, wholeOf } from './rig.ts'
import { Service } from './service.ts'
import type { Asked } from './service.ts'

const textsOf = ({ body }: Asked) => body['texts'] as readonly { readonly at: string; readonly text: string }[]
const bad = (asked: Asked) => textsOf(asked).some(({ text }) => text.includes('BAD'))

describe('guards: services', () => {
  const service = new Service()
  before(() => service.open())
  after(() => service.close())
  const rig = new Rig(async () => {
    if (service.url === '') await service.open()
    const hook = { kind: 'webhook', url: service.url, timeout: '5s', default: false }
    const timeout = '300ms'
    const window = { characters: 20, time: '50ms', overlap: 5 }
    return {
      records: {
        guards: [
          { ...hook, name: 'closed', side: ['input', 'output'], timeout, window },
          { ...hook, name: 'in', side: ['input'], secret: 'whsec_c2VjcmV0', headers: { 'x-own': 'yes' } },
          { ...hook, name: 'out', side: ['output'], window },
          { ...hook, name: 'held', side: ['output'], stream: 'full' },
          { ...hook, name: 'full', side: ['output'], stream: 'full' },
          { ...hook, name: 'open', on_error: 'open', timeout, window },
          { ...hook, name: 'masks', action: 'mask', window },
          { ...hook, name: 'calls', side: ['tool_calls'] },
          { ...hook, name: 'each', side: ['input', 'output', 'tool_calls'], action: 'mask' },
          { ...hook, name: 'flags', action: 'flag', side: ['output'] },
          { ...hook, name: 'shadow', shadow: true },
          { ...hook, name: 'litellm', contract: 'litellm', action: 'mask', params: { level: 2 } },
          { ...hook, name: 'portkey', contract: 'portkey', action: 'mask' },
          { ...hook, name: 'portkey-denies', contract: 'portkey' },
          { name: 'fast', kind: 'words', words: ['tell'], action: 'flag', default: false },
          { name: 'moderation', kind: 'moderation', url: `${service.url}/v1`, default: false, timeout: '5s' },
        ],
      },
    }
  })
  beforeEach(() => {
    service.asked.splice(0)
  })
  const by = (...names: string[]) => ({ 'x-gateway-guards': names.join(', ') })

  for (const client of protocols) {
    it(`judge streams in windows, for ${client}`, async () => {
      service.answers((asked) => (bad(asked) ? { action: 'deny' } : { action: 'pass' }))
      const text = ['This is quite good, ', 'and this is good, too, ', 'but this B', 'AD, and this is last']
      rig.upstream.answer({ frames: streamOf.chat({ text }) })
      const { status, text: given, body } = await rig.ask(client, 'chat', { stream: true, headers: by('out') })
      expect(status).to.equal(200)
      expect(given, body).to.equal('This is quite good, and this is good, too, ')
      expect(body).to.match(/content_filter|refusal|SAFETY/)
      rig.upstream.answer({ frames: streamOf.chat({ text: text.slice(0, 2) }) })
      const passed = await rig.ask(client, 'chat', { stream: true, headers: by('out') })
      expect(passed.text).to.equal('This is quite good, and this is good, too, ')
    })

    it(`that fail end a stream as a failure of ${client}, or let it pass`, async () => {
      service.act = (_, response) => response.writeHead(500).end()
      rig.upstream.answer({ frames: streamOf.chat({ text: ['This is quite good, ', 'and this, too.'] }) })
      const closed = await rig.ask(client, 'chat', { stream: true, headers: by('out') })
      expect(closed.body).to.match(/guard_unavailable|could not judge/)
      expect(closed.text).to.equal('')
      rig.upstream.answer({ frames: streamOf.chat({ text: ['This is quite good, ', 'and this, too.'] }) })
      const open = await rig.ask(client, 'chat', { stream: true, headers: by('open') })
      expect(open.text).to.equal('This is quite good, and this, too.')
      expect(open.headers.get('x-gateway-guards')).to.equal('open=error')
    })
  }

  it('hold all of a stream back, if they judge it whole', async () => {
    service.answers((asked) => (bad(asked) ? { action: 'deny', message: 'No.' } : { action: 'pass' }))
    rig.upstream.answer({ frames: streamOf.chat({ text: ['Good. ', 'Good. ', 'BAD'] }) })
    const { text } = await rig.ask('chat', 'chat', { stream: true, headers: by('full') })
    expect(text).to.equal('No.')
    expect(service.asked.map((asked) => textsOf(asked).map((one) => one.text))).to.deep.equal([['Good. Good. BAD']])
    expect(service.asked[0]?.body).to.deep.include({ guard: 'full', side: 'output', final: true, window: null })
  })

  it('mask what they answer, in requests, whole answers and windows', async () => {
    service.answers((asked) => ({
      action: 'mask',
      texts: textsOf(asked).map(({ at, text }) => ({ at, text: text.replaceAll('BAD', '***') })),
    }))
    rig.upstream.answer({ body: wholeOf.messages({ text: ['Said: BAD.'] }) })
    const whole = await rig.ask('chat', 'messages', { text: 'Say BAD.', headers: by('masks') })
    expect(rig.asked()).to.contain('Say ***.').and.not.contain('BAD')
    expect(whole.text).to.equal('Said: ***.')
    expect(whole.headers.get('x-gateway-guards')).to.equal('masks=masked')
    rig.upstream.answer({
      frames: streamOf.chat({ text: ['This is quite a long and BAD', ' answer, which goes on.'] }),
    })
    const streamed = await rig.ask('chat', 'chat', { stream: true, headers: by('masks') })
    expect(streamed.text).to.equal('This is quite a long and *** answer, which goes on.')
  })

  for (const stream of [false, true])
    it(`judge ${stream ? 'a held stream' : 'a whole answer'} beside each other, and the first denial ends the others`, async () => {
      let left = 0
      const answered = stream
        ? { frames: streamOf.chat({ text: ['Yes.'] }) }
        : { body: wholeOf.chat({ text: ['Yes.'] }) }
      const asking = { stream, headers: by(stream ? 'held' : 'out', 'full') }
      service.act = ({ body }, response) => {
        if (body['guard'] === 'full') response.end('{"action":"deny"}')
        else response.on('close', () => left++)
      }
      rig.upstream.answer(answered)
      const denied = await rig.ask('chat', 'chat', asking)
      expect(denied.text).to.equal('The content was blocked.')
      if (!stream) expect(denied.headers.get('x-gateway-guards')).to.equal('full=denied')
      await until(() => left === 1)
      service.asked.splice(0)
      const together = Promise.withResolvers<undefined>()
      service.act = (_, response) => {
        if (service.asked.length === 2) together.resolve(undefined)
        void together.promise.then(() => response.end('{"action":"pass"}'))
      }
      rig.upstream.answer(answered)
      expect((await rig.ask('chat', 'chat', asking)).text).to.equal('Yes.')
    })

  it('deny a call that has no text, and the last window, which brings no new text', async () => {
    service.answers(({ body }) => (body['tool_calls'] ? { action: 'deny' } : { action: 'pass' }))
    for (const stream of [false, true]) {
      const said = { call: ['{"count":1}'] }
      rig.upstream.answer(answerOf('chat', said, stream))
      const denied = await rig.ask('chat', 'chat', { stream, headers: by('calls') })
      expect(denied.body).to.contain('content_filter').and.not.contain('count')
    }
    service.answers(({ body }) => ({ action: body['final'] === true ? 'deny' : 'pass' }))
    rig.upstream.answer({ frames: streamOf.messages({ text: ['This is quite good, ', 'and this is good, too.'] }) })
    const late = await rig.ask('messages', 'messages', { stream: true, headers: by('out') })
    expect(late.body).to.contain('"stop_reason":"refusal"')
  })

  it('only flag where they say so, whatever the guard could do', async () => {
    service.answers(() => ({ action: 'flag' }))
    for (const name of ['closed', 'masks']) {
      rig.upstream.answer({ body: wholeOf.chat({ text: ['Yes.'] }) })
      const flagged = await rig.ask('chat', 'chat', { headers: by(name) })
      expect(flagged.text).to.equal('Yes.')
      expect(flagged.headers.get('x-gateway-guards')).to.equal(`${name}=flagged`)
      rig.upstream.answer({ frames: streamOf.chat({ text: ['Yes, ', 'of course.'] }) })
      expect((await rig.ask('chat', 'chat', { stream: true, headers: by(name) })).text).to.equal('Yes, of course.')
    }
  })

  it('name each value of a call and each part of a message, and mask the one that they mean', async () => {
    service.answers((asked) => ({
      action: 'mask',
      texts: textsOf(asked).flatMap(({ at, text }) => (text === 'BAD' ? [{ at, text: '***' }] : [])),
    }))
    for (const stream of [false, true]) {
      const said = { call: ['{"a":"one","b":"BAD","c":"three"}'] }
      rig.upstream.answer(answerOf('chat', said, stream))
      const { text } = await rig.ask('chat', 'chat', { stream, headers: by('each') })
      expect(text).to.equal('{"a":"one","b":"***","c":"three"}')
    }
    const [asked] = service.asked.filter(({ body }) => body['side'] === 'output') as [Asked]
    expect(new Set(textsOf(asked).map(({ at }) => at)).size, 'three names and their values').to.equal(6)
  })

  it('are asked with a signature, a trace and what the contract says', async () => {
    service.answers(() => ({ action: 'pass' }))
    rig.upstream.answer({ body: wholeOf.chat({ text: ['Yes.'] }) })
    const { headers } = await rig.ask('chat', 'chat', { text: 'Hi there', headers: by('in'), body: { user: 'ann' } })
    const [asked] = service.asked as [Asked]
    const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = asked.headers
    const key = Buffer.from('c2VjcmV0', 'base64')
    const wanted = createHmac('sha256', key)
      .update(`${String(id)}.${String(at)}.${asked.text}`)
      .digest('base64')
    expect(signature).to.equal(`v1,${wanted}`)
    expect(asked.headers['x-own']).to.equal('yes')
    expect(asked.headers.traceparent).to.match(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/)
    expect(asked.body).to.deep.equal({
      id,
      guard: 'in',
      side: 'input',
      final: true,
      window: null,
      request: {
        id: headers.get('x-request-id'),
        protocol: 'chat',
        operation: 'generate',
        model: 'chat',
        stream: false,
        key: { id: (asked.body['request'] as { key: { id: string } }).key.id, name: 'test' },
        tags: {},
        end_user: 'ann',
      },
      texts: [{ at: 'messages[0].content', role: 'user', text: 'Hi there' }],
    })
  })

  const failures: Readonly<Record<string, (asked: Asked, response: ServerResponse) => void>> = {
    hang: () => undefined,
    'break off': (_, response) => response.destroy(),
    lie: (_, response) => response.end('{"action":"perhaps"}'),
    'answer no JSON': (_, response) => response.end('fine'),
    'answer too much': (_, response) => response.end(JSON.stringify({ action: 'pass', more: 'x'.repeat(1_100_000) })),
    'answer another status': (_, response) => response.writeHead(204).end(),
    redirect: (_, response) => response.writeHead(307, { location: '/elsewhere' }).end(),
    'mask what is not there': (_, response) =>
      response.end(JSON.stringify({ action: 'mask', texts: [{ at: 'messages[9].content', text: 'x' }] })),
  }
  for (const [what, act] of Object.entries(failures))
    it(`that ${what} stop a request, or not, as on_error says`, async () => {
      service.act = act
      const started = performance.now()
      const closed = await rig.ask('chat', 'chat', { headers: by('closed') })
      expect(performance.now() - started).to.be.below(300 + 1_000)
      expect(closed.status).to.equal(503)
      expect((closed.data[0] as { error: { code: string } }).error.code).to.equal('guard_unavailable')
      expect(closed.body).to.contain('closed')
      rig.upstream.answer({ body: wholeOf.chat({ text: ['Yes.'] }) })
      const open = await rig.ask('chat', 'chat', { headers: by('open') })
      expect(open.status, open.body).to.equal(200)
      expect(open.headers.get('x-gateway-guards')).to.equal('open=error')
    })

  it('that answer late are not waited for', async () => {
    const late: ServerResponse[] = []
    service.act = (_, response) => late.push(response)
    const closed = await rig.ask('chat', 'chat', { headers: by('closed') })
    for (const response of late) response.end(JSON.stringify({ action: 'pass' }))
    expect(closed.status).to.equal(503)
  })

  it('are left by a client that leaves', async () => {
    let isGone = false
    service.act = (_, response) => response.on('close', () => (isGone = true))
    const leaving = new AbortController()
    const asking = fetch(`${rig.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${rig.gateway.key}`, 'content-type': 'application/json', ...by('in') },
      body: JSON.stringify({ model: 'chat', messages: [{ role: 'user', content: 'Hi' }] }),
      signal: leaving.signal,
    })
    await until(() => service.asked.length > 0)
    leaving.abort()
    await asking.catch(() => undefined)
    await until(() => isGone)
  })

  it('in shadow change no byte, and are in the row', async () => {
    for (const client of protocols)
      for (const model of protocols) {
        const said = { text: ['Good. ', 'BAD'] }
        service.answers(() => ({ action: 'deny' }))
        const bodies = []
        for (const headers of [{}, by('shadow')]) {
          rig.upstream.answer({ frames: streamOf[model](said) })
          const got = await rig.ask(client, model, { stream: true, headers })
          expect(got.headers.get('x-gateway-guards')).to.equal(null)
          bodies.push(
            got.body
              .replaceAll(/(resp|msg|chatcmpl-|rs|fc)?_?[0-9a-f]{8}-?[0-9a-f-]{24,}/g, 'ID')
              .replaceAll(/"(created|created_at|completed_at)":\d+/g, ''),
          )
        }
        expect(bodies[0]).to.equal(bodies[1])
      }
    const rows = await rig.gateway.rows()
    const row = rows.findLast(({ metadata }) => metadata.includes('"shadow":true'))
    const { guards } = JSON.parse(row?.metadata ?? '') as { guards: readonly object[] }
    expect(guards).to.have.length(2)
    expect(guards[1]).to.include({ name: 'shadow', side: 'output', outcome: 'denied', shadow: true })
  })

  it('that flag let a stream pass, and tell it in the row', async () => {
    service.answers((asked) => (bad(asked) ? { action: 'flag', category: 'rude', score: 0.9 } : { action: 'pass' }))
    rig.upstream.answer({ frames: streamOf.chat({ text: ['B', 'AD'] }) })
    const streamed = await rig.ask('chat', 'chat', { stream: true, headers: by('flags') })
    expect(streamed.text).to.equal('BAD')
    const row = await rig.rowOf(streamed)
    expect(JSON.parse(row.metadata)).to.deep.include({ guarded: 'flagged' })
    rig.upstream.answer({ body: wholeOf.chat({ text: ['BAD'] }) })
    const whole = await rig.ask('chat', 'chat', { headers: by('flags') })
    expect(whole.headers.get('x-gateway-guards')).to.equal('flags=flagged')
  })

  it('speak the contract of LiteLLM', async () => {
    service.answers(({ body }) => {
      const texts = body['texts'] as readonly string[]
      if (texts.some((text) => text.includes('STOP'))) return { action: 'BLOCKED', blocked_reason: 'it said stop' }
      if (!texts.some((text) => text.includes('BAD'))) return { action: 'NONE' }
      return { action: 'GUARDRAIL_INTERVENED', texts: texts.map((text) => text.replaceAll('BAD', '***')) }
    })
    rig.upstream.answer({ body: wholeOf.chat({ text: ['So BAD.'] }) })
    const { text } = await rig.ask('messages', 'chat', { text: 'Be BAD', headers: by('litellm') })
    expect(text).to.contain('So ***.')
    const [request, response] = service.asked as [Asked, Asked]
    expect(request.path).to.equal('/beta/litellm_basic_guardrail_api')
    expect(request.body).to.deep.include({
      input_type: 'request',
      texts: ['Be BAD'],
      images: null,
      additional_provider_specific_params: { level: 2 },
      model: 'chat',
      structured_messages: [{ role: 'user', content: 'Be BAD' }],
    })
    const { authorization, 'content-type': type } = request.body['request_headers'] as Record<string, string>
    expect({ authorization, type }).to.deep.equal({ authorization: '[present]', type: 'application/json' })
    expect(response.body).to.deep.include({ input_type: 'response', texts: ['So BAD.'], structured_messages: null })
  })

  it('speak the contract of Portkey', async () => {
    service.answers(({ body }) => {
      const part = body['eventType'] === 'beforeRequestHook' ? 'request' : 'response'
      const json = JSON.parse(JSON.stringify((body[part] as JsonObject)['json']).replaceAll('BAD', '***')) as JsonObject
      return { verdict: true, transformedData: { [part]: { json } } }
    })
    const types = {
      chat: 'chatComplete',
      gemini: 'chatComplete',
      messages: 'messages',
      responses: 'createModelResponse',
    }
    for (const client of protocols) {
      service.asked.splice(0)
      rig.upstream.answer({ body: wholeOf[client]({ text: ['So BAD.'] }) })
      const { text } = await rig.ask(client, client, { text: 'Be BAD', headers: by('portkey') })
      expect(text, client).to.contain('So ***.')
      expect(rig.asked()).to.contain('Be ***')
      const [before, after] = service.asked as [Asked, Asked]
      expect(before.body).to.deep.include({ requestType: types[client], eventType: 'beforeRequestHook' })
      expect(before.body['request']).to.deep.include({
        text: 'Be BAD',
        isStreamingRequest: false,
        isTransformed: false,
      })
      expect(after.body).to.deep.include({ requestType: types[client], eventType: 'afterRequestHook' })
      expect(after.body['response']).to.deep.include({ text: 'So BAD.', statusCode: 200, isTransformed: false })
    }
  })

  it('of Portkey read the last message whole, and change nothing where the guard does not mask', async () => {
    const transformedData = { request: { json: { messages: [{ role: 'user', content: '***' }] } } }
    service.answers(({ body }) => ({ verdict: body['eventType'] === 'beforeRequestHook', transformedData }))
    const content = ['one, ', 'two'].map((text) => ({ type: 'text', text }))
    const asked = { model: 'messages', max_tokens: 9, messages: [{ role: 'user', content }], system: 'Be kind.' }
    rig.upstream.answer({ body: wholeOf.messages({ text: ['Yes.'] }) })
    const got = await rig.gateway.post('/v1/messages', asked, by('portkey-denies'))
    expect(await got.text()).to.contain('"stop_reason":"refusal"')
    expect(JSON.parse(String(rig.upstream.requests.at(-1)?.body))).to.deep.include({ messages: asked.messages })
    for (const { body } of service.asked) expect(body['request']).to.deep.include({ text: 'one, two' })
    expect(service.asked).to.have.length(2)
  })

  it('of Portkey that refuse without other texts have everything masked', async () => {
    service.answers(({ body }) => {
      const part = body['eventType'] === 'beforeRequestHook' ? 'request' : 'response'
      return {
        verdict: part === 'request',
        transformedData: { [part]: { json: (body[part] as JsonObject)['json'] ?? {} } },
      }
    })
    rig.upstream.answer({ body: wholeOf.chat({ text: ['So BAD.'] }) })
    const { text, headers } = await rig.ask('chat', 'chat', { headers: by('portkey') })
    expect(text).to.equal('[PORTKEY]')
    expect(headers.get('x-gateway-guards')).to.equal('portkey=masked')
  })

  it('for moderation are asked for all texts at once', async () => {
    service.answers(({ body }) => ({
      results: (body['input'] as readonly string[]).map((text) => ({
        flagged: text.includes('BAD'),
        categories: { hate: text.includes('BAD') },
        category_scores: { hate: text.includes('BAD') ? 0.9 : 0.1 },
      })),
    }))
    const denied = await rig.ask('chat', 'chat', { text: 'Be BAD', headers: by('moderation') })
    expect(denied.status).to.equal(400)
    expect(service.asked[0]?.path).to.equal('/v1/moderations')
    expect(service.asked[0]?.body).to.deep.equal({ input: ['Be BAD'] })
    const [verdict] = await rig.verdictsOf(denied)
    expect(verdict).to.include({ category: 'hate', score: 0.9, outcome: 'denied' })
  })

  it('are told in their order, whoever answers first', async () => {
    // Of those beside each other, the first by its place answers last.
    const answered = Promise.withResolvers<undefined>()
    const answer = (response: ServerResponse) => response.end('{"action":"flag"}')
    service.act = ({ body: { guard, side } }, response) => {
      if (guard === 'full') return void answered.promise.then(() => setTimeout(answer, 20, response))
      answer(response)
      if (guard === 'flags' && side === 'output') answered.resolve(undefined)
    }
    rig.upstream.answer({ body: wholeOf.chat({ text: ['Do not tell.'] }) })
    const { headers } = await rig.ask('chat', 'chat', {
      text: 'Do tell.',
      headers: by('fast', 'flags', 'masks', 'full'),
    })
    expect(headers.get('x-gateway-guards')).to.equal('masks=flagged, full=flagged, flags=flagged, fast=flagged')
  })

  it('are named by the request, and no name is left out', async () => {
    const { status, body } = await rig.ask('chat', 'chat', {
      headers: by(...Array.from({ length: 32 }, () => 'in'), 'out'),
    })
    expect(status).to.equal(400)
    expect(body).to.contain('names more than 32 guards')
  })

  it('are named by the request, and an unknown name is refused', async () => {
    const { status, data } = await rig.ask('chat', 'chat', { headers: by('nobody') })
    expect(status).to.equal(400)
    expect(data[0]).to.deep.include({
      error: {
        message: 'Invalid value at x-gateway-guards: names no guard "nobody".',
        type: 'invalid_request_error',
        param: 'x-gateway-guards',
        code: 'invalid_value',
      },
    })
  })
})
