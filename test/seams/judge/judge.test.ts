import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { ToldAttempt } from '../../../engine/index.ts'
import { openDatabase } from '../../../engine/store/database.ts'
import { startGateway } from '../../support/gateway.ts'
import type { RunningGateway, GatewaySettings } from '../../support/gateway.ts'
import { copyPipelines } from '../../support/pipelines.ts'
import type { Pipelines } from '../../support/pipelines.ts'
import { until } from '../../support/until.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { Script, ScriptedUpstream } from '../../support/upstream.ts'
import { tablesOf } from '../../support/tables.ts'
import { chatAnswer, chatFrames } from '../../service/streams.ts'

const here = import.meta.dirname
const messages = [{ role: 'user', content: 'Tell me a secret.' }]

/** The served pipeline at other paths, with other fields of the judge. */
const variants: Readonly<Record<string, string>> = {
  hurried: 'deadline: 2s',
  streamed: 'stream: true',
  small: 'stream: true, limit: 300',
  beside: 'wait: false',
  translated: 'protocol: messages',
  pieces: 'protocol: messages, stream: true',
}

/** An answer of chat completions that says a word. */
function says(content: string): Script {
  const [choice] = chatAnswer.choices
  return { body: { ...chatAnswer, choices: [{ ...choice, message: { role: 'assistant', content } }] } }
}

/** An answer in pieces that breaks off, not before its beginning has been taken for an answer. */
function breaking(...texts: readonly string[]): Script {
  const begun = new Promise<void>((resolve) => {
    const listen = (message: unknown) => {
      if ((message as ToldAttempt).model !== 'judge') return
      unsubscribe('sluice:attempt:end', listen)
      resolve()
    }
    subscribe('sluice:attempt:end', listen)
  })
  async function* chunks() {
    for (const frame of chatFrames(...texts).slice(0, 1 + texts.length))
      yield `data: ${JSON.stringify((frame as { readonly data: object }).data)}\n\n`
    await begun
  }
  return { headers: { 'content-type': 'text/event-stream' }, chunks: chunks(), ending: 'close' }
}

describe('seams/judge', () => {
  let judge: ScriptedUpstream
  let main: ScriptedUpstream
  let pipelines: Pipelines
  let gateway: RunningGateway
  before(async () => {
    judge = await scriptedUpstream()
    main = await scriptedUpstream()
    pipelines = await copyPipelines(join(here, 'pipelines'))
    const text = await readFile(join(pipelines.folder, 'acme-judged.yaml'), 'utf8')
    for (const [name, fields] of Object.entries(variants))
      await writeFile(
        join(pipelines.folder, `${name}.yaml`),
        text
          .replace('acme-judged', name)
          .replace('/judged', `/judged/${name}`)
          .replace('model: judge', `model: judge, ${fields}`),
      )
    gateway = await startGateway(settings())
  })
  const settings = (): GatewaySettings => ({
    pipelines: pipelines.folder,
    plugins: [join(here, 'plugin.ts')],
    providers: [
      { name: 'judges', type: 'compatible', base_url: judge.url },
      { name: 'serves', type: 'compatible', base_url: main.url },
    ],
    models: [
      { name: 'judge', provider: 'judges', upstream_model: 'jury-2026', pricing: { input: 1, output: 1 } },
      { name: 'm', provider: 'serves', upstream_model: 'big-2026', pricing: { input: 100, output: 100 } },
    ],
  })
  after(async () => {
    await gateway.close()
    await judge.close()
    await main.close()
    await pipelines.remove()
  })

  let already: { readonly judge: number; readonly main: number; readonly rows: number }
  beforeEach(async () => {
    already = { judge: judge.requests.length, main: main.requests.length, rows: (await gateway.rows()).length }
    judge.answer(says('yes'))
    main.answer(says('The cake is a lie.'))
  })
  /** How often each was asked. */
  const calls = () => ({ judge: judge.requests.length - already.judge, main: main.requests.length - already.main })
  const ask = (path = '/judged') => gateway.post(path, { model: 'm', messages })
  /** The rows of this test: the request's own and the judge's. */
  const rows = async () => {
    const all = (await gateway.rows()).slice(already.rows)
    return { own: all.find(({ type }) => type === 'chat'), judged: all.find(({ type }) => type === 'judge'), all }
  }
  const noted = (row: { readonly metadata: string } | undefined) =>
    JSON.parse(row?.metadata ?? '{}') as { readonly verdict?: string; readonly judge?: { id: string; status: number } }

  it('asks a model by a pipeline of its own, with an own row that names its parent', async () => {
    const answer = await ask()
    expect(answer.status).to.equal(200)
    expect(calls()).to.deep.equal({ judge: 1, main: 1 })
    const request = judge.requests.at(-1)
    expect(JSON.parse(String(request?.body))).to.deep.equal({
      model: 'jury-2026',
      max_tokens: 8,
      stream: false,
      messages: [{ role: 'user', content: `May this be served? ${JSON.stringify(messages)}` }],
    })
    const { own, judged, all } = await rows()
    expect(all).to.have.length(2)
    expect(own).to.deep.include({ id: answer.headers.get('x-request-id'), parent: null, model: 'm', cost_micros: 1300 })
    expect(judged).to.deep.include({
      parent: own?.id,
      key_id: own?.key_id,
      model: 'judge',
      status: 200,
      result: 'completed',
      input_tokens: 9,
      output_tokens: 4,
      cost_micros: 13,
    })
    expect(noted(own)).to.deep.include({ verdict: 'yes', judge: { id: judged?.id, status: 200 } })
  })

  it('passes the trace context of the request on to the judge', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    expect((await gateway.post('/judged', { model: 'm', messages }, { traceparent, 'x-own': '1' })).status).to.equal(
      200,
    )
    for (const { requests } of [judge, main]) {
      expect(requests.at(-1)?.headers).to.include({ traceparent })
      expect(requests.at(-1)?.headers).not.to.have.property('x-own')
    }
  })

  it('refuses what the judge refuses, before the model is asked', async () => {
    judge.answer(says('no'))
    const answer = await ask()
    expect(answer.status).to.equal(403)
    expect(calls()).to.deep.equal({ judge: 1, main: 0 })
    expect((await rows()).judged).to.include({ status: 200 })
  })

  it('closes the call of the judge when the client leaves, and asks nobody else', async () => {
    judge.answer({ silent: true })
    const leaving = new AbortController()
    const asked = fetch(`${gateway.url}/judged`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}` },
      body: JSON.stringify({ model: 'm', messages }),
      signal: leaving.signal,
    }).catch((error: unknown) => (error as Error).name)
    await judge.received(already.judge + 1)
    leaving.abort()
    expect(await asked).to.equal('AbortError')
    await judge.closed()
    await until(async () => (await rows()).all.length >= 2)
    const { own, judged } = await rows()
    expect(judged).to.include({ parent: own?.id, status: 499, result: 'client_closed', error: 'client_closed' })
    expect(own).to.include({ status: 499, result: 'client_closed' })
    expect(calls()).to.deep.equal({ judge: 1, main: 0 })
  })

  it('goes on without a judge that is late, whose call is closed', async () => {
    judge.answer({ silent: true })
    const answer = await ask('/judged/hurried')
    expect(answer.status).to.equal(200)
    await judge.closed()
    expect(calls()).to.deep.equal({ judge: 1, main: 1 })
    const { own, judged } = await rows()
    expect(judged).to.include({ parent: own?.id, status: 504, result: 'failed', error: 'stage_timeout' })
    expect(noted(own)).to.deep.include({ verdict: 'stage_timeout', judge: { id: judged?.id, status: 504 } })
  })

  it('hears of a judge that fails', async () => {
    judge.answer({ status: 500, body: { error: { message: 'broken' } } })
    expect((await ask()).status).to.equal(200)
    expect(calls()).to.deep.equal({ judge: 1, main: 1 })
    const { own, judged } = await rows()
    expect(judged).to.include({ status: 502, result: 'failed', error: 'upstream_error', parent: own?.id })
    expect(noted(own)).to.deep.include({ verdict: 'upstream_error', judge: { id: judged?.id, status: 502 } })
  })

  it('gathers a judge that answers in pieces', async () => {
    judge.answer({ frames: chatFrames('y', 'es') })
    expect((await ask('/judged/streamed')).status).to.equal(200)
    expect(calls()).to.deep.equal({ judge: 1, main: 1 })
    const { own, judged } = await rows()
    expect(judged).to.include({ status: 200, result: 'completed', stream: 1, input_tokens: 9 })
    expect(judged?.first_byte).to.be.a('number')
    expect(noted(own)).to.include({ verdict: 'yes' })
  })

  it('hears of a judge that breaks off in the middle', async () => {
    judge.answer(breaking('y'))
    expect((await ask('/judged/streamed')).status).to.equal(200)
    expect(calls()).to.deep.equal({ judge: 1, main: 1 })
    const { own, judged } = await rows()
    expect(judged).to.include({ result: 'failed', status: 502 })
    expect(noted(own).judge).to.deep.equal({ id: judged?.id, status: 502 })
    expect(noted(own).verdict).to.match(/^upstream_/)
  })

  it('gets the error itself where a client would have read of it in the stream', async () => {
    judge.answer(breaking('y'))
    expect((await ask('/judged/pieces')).status).to.equal(200)
    expect(calls()).to.deep.equal({ judge: 1, main: 1 })
    const { own, judged } = await rows()
    expect(judged).to.include({ result: 'failed', status: 502, protocol: 'messages' })
    expect(noted(own).judge).to.deep.equal({ id: judged?.id, status: 502 })
  })

  it('takes no more of a judge than it wants, and closes its call', async () => {
    judge.answer({ frames: chatFrames('y', 'es', ...Array.from({ length: 50 }, () => '!')), ending: 'hang' })
    expect((await ask('/judged/small')).status).to.equal(200)
    await judge.closed()
    expect(calls()).to.deep.equal({ judge: 1, main: 1 })
    const { own } = await rows()
    expect(noted(own)).to.include({ verdict: 'upstream_invalid_response' })
  })

  it('asks in another protocol than that of the pipeline, and is answered in it', async () => {
    expect((await ask('/judged/translated')).status).to.equal(200)
    expect(calls()).to.deep.equal({ judge: 1, main: 1 })
    const { own, judged } = await rows()
    expect(judged).to.include({ protocol: 'messages', upstream_protocol: 'chat' })
    expect(noted(own)).to.include({ verdict: 'yes' })
    judge.answer({ status: 500, body: { error: { message: 'broken' } } })
    expect((await ask('/judged/translated')).status).to.equal(200)
  })

  it('settles what the pipeline of the judge took, when the judge is done and not when the request is', async () => {
    const answered = Promise.withResolvers<Script>()
    judge.answer(() => answered.promise)
    const leaving = new AbortController()
    const first = fetch(`${gateway.url}/judged`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}` },
      body: JSON.stringify({ model: 'm', messages }),
      signal: leaving.signal,
    }).catch((error: unknown) => (error as Error).name)
    await judge.received(already.judge + 1)
    // The only turn is taken: this one is served without a judge.
    expect((await ask()).status).to.equal(200)
    expect(calls()).to.deep.equal({ judge: 1, main: 1 })
    expect((await rows()).judged).to.include({ status: 503, error: 'overloaded' })
    main.answer({ silent: true })
    answered.resolve(says('yes'))
    await main.received(already.main + 2)
    // The first request is still being served, and its judge has given its turn back.
    main.answer(says('The cake is a lie.'))
    judge.answer(says('yes'))
    expect((await ask()).status).to.equal(200)
    expect(calls()).to.deep.equal({ judge: 2, main: 3 })
    leaving.abort()
    expect(await first).to.equal('AbortError')
    await until(async () => (await rows()).all.length >= 6)
  })

  it('asks a judge that nobody waits for, in the configuration that it began with', async () => {
    const answered = Promise.withResolvers<Script>()
    judge.answer(() => answered.promise)
    const answer = await ask('/judged/beside')
    expect(await answer.json()).to.deep.include({ object: 'chat.completion' })
    expect((await rows()).all.map(({ type }) => type)).to.deep.equal(['chat'])
    const config = join(pipelines.folder, 'acme-jury.yaml')
    await writeFile(config, (await readFile(config, 'utf8')).replace('type: judge', 'type: other-judge'))
    expect(await gateway.engine.live.reload()).to.deep.equal([])
    answered.resolve(says('yes'))
    await until(async () => (await rows()).all.length >= 2)
    const { own, judged } = await rows()
    expect(judged).to.include({ parent: own?.id, status: 200 })
    expect(calls()).to.deep.equal({ judge: 1, main: 1 })
  })

  it('ends a judge that nobody waits for when the gateway stops, and writes its row before', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-judge-'))
    try {
      const stopping = await startGateway({ ...settings(), folder, limits: { abortTimeout: 10_000 } })
      judge.answer({ silent: true })
      expect((await stopping.post('/judged/beside', { model: 'm', messages })).status).to.equal(200)
      await judge.received(already.judge + 1)
      await stopping.engine.close(50)
      await judge.closed()
      const database = await openDatabase(`sqlite:${join(folder, 'sluice.db')}`)
      const kept = await tablesOf(database).selectFrom('requests').selectAll().orderBy('at').execute()
      await database.close()
      expect(kept.map(({ status, error }) => [status, error])).to.have.deep.members([
        [200, null],
        [503, 'draining'],
      ])
      const [own, judged] = kept.toSorted((one, other) => one.status - other.status)
      expect(judged?.parent).to.equal(own?.id)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})
