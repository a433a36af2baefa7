import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway, GatewaySettings } from '../support/gateway.ts'
import { copyPipelines } from '../support/pipelines.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'

const completion = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'read' }, finish_reason: 'stop' }],
}
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'read' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
}
const pdf = Buffer.from('%PDF-1.7 of a page')
const sound = Buffer.from('ID3 of a song')

describe('files given by their address', () => {
  let files: ScriptedUpstream
  let chat: ScriptedUpstream
  let claims: ScriptedUpstream
  let gateway: RunningGateway
  let closed: RunningGateway
  let settings: GatewaySettings
  let pipelines: Awaited<ReturnType<typeof copyPipelines>>

  before(async () => {
    files = await scriptedUpstream()
    chat = await scriptedUpstream()
    claims = await scriptedUpstream()
    pipelines = await copyPipelines()
    await pipelines.edit(
      'generate.yaml',
      '- inline-files ',
      '- inline-files: { private_addresses: true, files: 3, limit: 1000, total: 1500, within: 2s } ',
    )
    settings = {
      providers: [
        { name: 'all', type: 'compatible', base_url: chat.url, traits: { files: true, audio: true } },
        { name: 'text', type: 'compatible', base_url: chat.url },
        { name: 'messages', type: 'messages', base_url: claims.url, api_key: 'k' },
      ],
      models: [
        { name: 'm', provider: 'all', fallbacks: ['second'] },
        { name: 'second', provider: 'all' },
        { name: 'plain', provider: 'text' },
        { name: 'linked', provider: 'messages' },
      ],
    }
    gateway = await startGateway({ ...settings, pipelines: pipelines.folder })
    closed = await startGateway(settings)
  })
  after(async () => {
    await gateway.close()
    await closed.close()
    await pipelines.remove()
    await Promise.all([files.close(), chat.close(), claims.close()])
  })

  const file = (path: string, more: JsonObject = {}) => ({ type: 'input_file', file_url: files.url + path, ...more })
  const ask = (model: string, content: readonly JsonObject[], through = gateway) =>
    through.post('/v1/responses', { model, input: [{ role: 'user', content }] })
  const sent = (upstream: ScriptedUpstream) => {
    const body = JSON.parse(String(upstream.requests.at(-1)?.body)) as { messages: { content: unknown }[] }
    return body.messages[0]?.content
  }
  const refusal = async (content: readonly JsonObject[], through = gateway) => {
    const asked = chat.requests.length
    const answer = await ask('m', content, through)
    const { error } = (await answer.json()) as { error: { code: string; param: string; message: string } }
    expect(chat.requests).to.have.length(asked)
    return [answer.status, error.code, error.param, error.message]
  }

  it('go on as bytes to a provider that takes no addresses', async () => {
    chat.answer({ body: completion })
    files.answer({ body: pdf, headers: { 'content-type': 'application/pdf' } }, { body: sound })
    const answer = await ask('m', [
      { type: 'input_text', text: 'Look' },
      file('/page.pdf', { filename: 'mine.pdf' }),
      file('/page.pdf'),
      { type: 'input_audio', audio_url: `${files.url}/song` },
    ])
    expect(answer.status).to.equal(200)
    const data = `data:application/pdf;base64,${pdf.toString('base64')}`
    expect(sent(chat)).to.deep.equal([
      { type: 'text', text: 'Look' },
      { type: 'file', file: { filename: 'mine.pdf', file_data: data } },
      { type: 'file', file: { filename: 'page.pdf', file_data: data } },
      { type: 'input_audio', input_audio: { data: sound.toString('base64'), format: 'mp3' } },
    ])
    expect(files.requests.map(({ path }) => path)).to.deep.equal(['/page.pdf', '/song'])
    expect(answer.headers.get('server-timing')).to.match(/files;dur=\d/)
    expect(answer.headers.get('x-gateway-losses')).to.equal(null)
  })

  it('go on as pictures where that is what they are', async () => {
    chat.answer({ body: completion })
    files.answer({ body: Buffer.from('\x89PNG\r\n\x1a\n', 'latin1') })
    expect((await ask('m', [file('/picture')])).status).to.equal(200)
    expect(sent(chat)).to.deep.equal([{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }])
  })

  it('are fetched once for all candidates', async () => {
    chat.answer({ status: 500, body: {} }, { body: completion })
    files.answer({ body: pdf })
    const before = files.requests.length
    expect((await ask('m', [file('/once')])).status).to.equal(200)
    expect(files.requests).to.have.length(before + 1)
    expect(sent(chat)).to.deep.equal([
      { type: 'file', file: { filename: 'once', file_data: `data:application/pdf;base64,${pdf.toString('base64')}` } },
    ])
  })

  it('stay addresses for a provider that takes them', async () => {
    claims.answer({ body: message })
    const before = files.requests.length
    expect((await ask('linked', [file('/page.pdf', { filename: 'mine.pdf' })], closed)).status).to.equal(200)
    expect(sent(claims)).to.deep.equal([
      { type: 'document', source: { type: 'url', url: `${files.url}/page.pdf` }, title: 'mine.pdf' },
    ])
    expect(files.requests).to.have.length(before)
  })

  it('become a text for a provider that takes no files', async () => {
    chat.answer({ body: completion })
    const answer = await ask('plain', [file('/page.pdf')], closed)
    expect(answer.status).to.equal(200)
    expect(sent(chat)).to.equal(`[file: ${files.url}/page.pdf]`)
    expect(answer.headers.get('x-gateway-losses')).to.equal('file_url')
  })

  it('are not looked for in what goes on as it came', async () => {
    chat.answer({ body: completion })
    const before = files.requests.length
    const content = [{ type: 'file', file: { filename: 'a', file_data: `${files.url}/page.pdf` } }]
    const answer = await closed.post('/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content }] })
    expect(answer.status).to.equal(200)
    expect(sent(chat)).to.deep.equal(content)
    expect(files.requests).to.have.length(before)
  })

  it('are refused by their place when they are inside', async () => {
    const before = files.requests.length
    const told = 'its host cannot be reached, or has no public address'
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '10.0.0.1', '169.254.169.254', '2130706433']) {
      const url = `http://${host}/a`
      expect(
        await refusal(
          [
            { type: 'input_text', text: 'x' },
            { type: 'input_file', file_url: url },
          ],
          closed,
        ),
      ).to.deep.equal([
        400,
        'invalid_value',
        'input[0].content[1].file_url',
        `Invalid value at input[0].content[1].file_url: ${told}.`,
      ])
    }
    expect(files.requests).to.have.length(before)
  })

  it('are refused by their place when they are too large, too slow or too many', async () => {
    const place = 'input[0].content[0].file_url'
    files.answer({ body: Buffer.alloc(1001) })
    expect(await refusal([file('/large')])).to.deep.equal([
      400,
      'invalid_value',
      place,
      `Invalid value at ${place}: it is larger than 1000 bytes.`,
    ])
    files.answer({ silent: true })
    expect(await refusal([file('/slow')])).to.deep.equal([
      400,
      'invalid_value',
      place,
      `Invalid value at ${place}: it took too long to fetch.`,
    ])
    const last = 'input[0].content[3].file_url'
    expect(await refusal(['/1', '/2', '/3', '/4'].map((path) => file(path)))).to.deep.equal([
      400,
      'invalid_value',
      last,
      `Invalid value at ${last}: at most 3 files are fetched for one request.`,
    ])
    await files.closed()
  })

  it('count as often as they are sent', async () => {
    files.answer({ body: Buffer.alloc(600) })
    const before = files.requests.length
    const place = 'input[0].content[2].file_url'
    expect(await refusal([file('/a'), file('/a'), file('/a')])).to.deep.equal([
      400,
      'invalid_value',
      place,
      `Invalid value at ${place}: the files together are larger than 1500 bytes.`,
    ])
    expect(files.requests).to.have.length(before + 1)
  })

  it('are fetched as the settings say', async () => {
    const about = { allow_private: true, max_bytes: 1000 }
    const start = (file_urls: object) => startGateway({ ...settings, server_config: { security: { file_urls } } })
    const place = 'input[0].content[0].file_url'
    const open = await start(about)
    chat.answer({ body: completion })
    files.answer({ body: pdf })
    expect((await ask('m', [file('/a')], open)).status).to.equal(200)
    files.answer({ body: Buffer.alloc(1001) })
    expect((await refusal([file('/a')], open)).at(-1)).to.equal(
      `Invalid value at ${place}: it is larger than 1000 bytes.`,
    )
    await open.close()
    const hasty = await start({ ...about, timeout: '100ms' })
    files.answer({ silent: true })
    expect((await refusal([file('/a')], hasty)).at(-1)).to.equal(
      `Invalid value at ${place}: it took too long to fetch.`,
    )
    await hasty.close()
    const none = await start({ ...about, fetch: false })
    const asked = files.requests.length
    expect(await refusal([file('/a')], none)).to.deep.equal([
      400,
      'invalid_value',
      place,
      `Invalid value at ${place}: files are not fetched by their address for this provider; send the bytes.`,
    ])
    expect(files.requests).to.have.length(asked)
    await none.close()
  })

  it('are refused while other requests hold too much of them, until those are over', async () => {
    const narrow = await startGateway({ ...settings, pipelines: pipelines.folder, limits: { bodies: 3_000 } })
    files.answer({ body: Buffer.alloc(900) })
    chat.answer({ silent: true }, { body: completion })
    const leaving = new AbortController()
    const asked = chat.requests.length
    const first = fetch(`${narrow.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${narrow.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', input: [{ role: 'user', content: [file('/held')] }] }),
      signal: leaving.signal,
    }).catch((error: Error) => error.name)
    await chat.received(asked + 1)
    const [status, code] = await refusal([file('/more')], narrow)
    expect([status, code]).to.deep.equal([503, 'overloaded'])
    const rows = (await narrow.rows()).length
    leaving.abort()
    expect(await first).to.equal('AbortError')
    await narrow.rows(rows + 1)
    for (let count = 0; count < 3; count++) expect((await ask('m', [file('/more')], narrow)).status).to.equal(200)
    await narrow.close()
  })

  it('are fetched again for as many turns as there is room for, the latest first', async () => {
    chat.answer({ body: completion })
    files.answer({ body: pdf })
    let previous_response_id: string | undefined
    for (const turn of ['/1', '/2', '/3', '/4', '/5']) {
      const input = [{ role: 'user', content: [file(turn)] }]
      const answer = await gateway.post('/v1/responses', { model: 'm', input, previous_response_id })
      expect(answer.status).to.equal(200)
      previous_response_id = ((await answer.json()) as { id: string }).id
    }
    const { messages } = JSON.parse(String(chat.requests.at(-1)?.body)) as { messages: JsonObject[] }
    const data = `data:application/pdf;base64,${pdf.toString('base64')}`
    const whole = (filename: string) => [{ type: 'file', file: { filename, file_data: data } }]
    const said = messages.filter(({ role }) => role === 'user').map(({ content }) => content)
    expect(said).to.deep.equal([`[file: ${files.url}/1]`, `[file: ${files.url}/2]`, whole('3'), whole('4'), whole('5')])
    expect(files.requests.slice(-3).map(({ path }) => path)).to.deep.equal(['/5', '/4', '/3'])
  })

  it('become a text when they are of an earlier turn and gone since', async () => {
    chat.answer({ body: completion })
    files.answer({ body: pdf }, { status: 404 })
    const { id } = (await (await ask('m', [file('/page.pdf')])).json()) as { id: string }
    const next = { model: 'm', input: 'And?', previous_response_id: id }
    const answer = await gateway.post('/v1/responses', next)
    expect(answer.status).to.equal(200)
    expect(sent(chat)).to.equal(`[file: ${files.url}/page.pdf]`)
    expect(answer.headers.get('x-gateway-losses')).to.contain('file_url')
  })

  it('are let go when the client leaves', async () => {
    files.answer({ silent: true })
    const before = files.requests.length
    const count = (await gateway.rows()).length
    const leaving = new AbortController()
    const asked = fetch(`${gateway.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', input: [{ role: 'user', content: [file('/slow')] }] }),
      signal: leaving.signal,
    }).catch((error: Error) => error.name)
    await files.received(before + 1)
    leaving.abort()
    expect(await asked).to.equal('AbortError')
    await files.closed()
    expect((await gateway.rows(count + 1))[count]).to.include({ result: 'client_closed', status: 499 })
  })
})
