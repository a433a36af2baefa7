import { once } from 'node:events'
import { readFile, readdir } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { expect } from 'chai'
import { openai } from '../support/clients.ts'
import { startFolder } from '../support/folder.ts'
import type { FolderGateway } from '../support/folder.ts'
import { keyStore, keysOf } from '../support/keys.ts'
import { copyPipelines } from '../support/pipelines.ts'
import { until } from '../support/until.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { chatFrames, printed } from './streams.ts'

const plugin = (word: string) => `import { defineProvider } from 'sluice'
import { word } from './word.ts'
export default defineProvider({
  name: 'word',
  summary: 'Says a word.',
  config: { type: 'object', additionalProperties: false, properties: {} } as const,
  offers: () => [{ operation: 'generate' }],
  open: () => ({
    answer: {
      async generate(_request, model) {
        return { model, items: [{ type: 'message', role: 'assistant', content: [{ type: 'text', text: word + '${word}' }] }], stop: 'end' }
      },
    },
  }),
})
`
const messages = [{ role: 'user' as const, content: 'hello' }]

describe('a gateway whose files change', () => {
  let gateway: FolderGateway
  let asking: Promise<readonly number[]>
  const stop = new AbortController()

  let upstream: ScriptedUpstream
  const models = [
    { name: 'echo', provider: 'echo' },
    { name: 'word', provider: 'word' },
  ]
  const far = { name: 'far', provider: 'far' }

  before(async () => {
    upstream = await scriptedUpstream()
    const settings = {
      plugins: ['./mine'],
      pipelines: './pipelines',
      providers: [
        { name: 'echo', type: 'echo' },
        { name: 'word', type: 'word' },
        { name: 'far', type: 'compatible', base_url: upstream.url, api_key: 'upstream-key' },
      ],
      models: [...models, far],
    }
    const pipelines = await copyPipelines()
    const files: Record<string, string> = {
      'mine/index.ts': plugin('!'),
      'mine/word.ts': "export const word: string = 'One'\n",
    }
    for (const name of await readdir(pipelines.folder))
      files[`pipelines/${name}`] = await readFile(`${pipelines.folder}/${name}`, 'utf8')
    await pipelines.remove()
    gateway = await startFolder(settings, files)
    // Somebody asks all the time; no change may drop one of these requests.
    asking = (async () => {
      const statuses: number[] = []
      while (!stop.signal.aborted) {
        const response = await gateway.ask('/v1/chat/completions', { model: 'echo', messages })
        await response.bytes()
        statuses.push(response.status)
      }
      return statuses
    })()
  })

  after(async () => {
    stop.abort()
    const statuses = await asking
    await gateway.close()
    await upstream.close()
    expect(statuses.length).to.be.above(20)
    expect(new Set(statuses)).to.deep.equal(new Set([200]))
  })

  const version = async () => (await gateway.ready()).body.config.version
  /** Makes a change and waits until it is live. */
  const changed = async (change: () => Promise<void>) => {
    const before = await version()
    await change()
    await until(async () => (await version()) !== before)
    expect((await gateway.ready()).body).to.include({ status: 'ok' })
  }
  /** Makes a change that must be refused, and answers what the log says of it: everybody may read the health report. */
  const refused = async (change: () => Promise<void>) => {
    const before = await version()
    const logged = gateway.lines.length
    const said = () => gateway.lines.slice(logged).map((line) => JSON.parse(line) as { level: string; msg: string })
    await change()
    await until(async () => said().some(({ msg }) => msg.includes('the last good one stays')))
    const { status, body } = await gateway.ready()
    expect(status).to.equal(200)
    expect(body.status).to.equal('degraded')
    expect(body.config).to.deep.equal({ version: before, error: true })
    expect((await gateway.ask('/v1/chat/completions', { model: 'echo', messages })).status).to.equal(200)
    return said().find(({ level }) => level === 'error')?.msg
  }
  /** Takes a refused change back. */
  const mended = async (change: () => Promise<void>) => {
    await change()
    await until(async () => (await gateway.ready()).body.config.error === undefined)
    expect((await gateway.ready()).body.status).to.equal('ok')
  }
  const says = async (model: string) => {
    const { choices } = await openai(gateway).chat.completions.create({ model, messages })
    return choices[0]?.message.content
  }
  const status = async (path: string, body: object) => {
    const response = await gateway.ask(path, body)
    await response.bytes()
    return response.status
  }

  it('serves a new model, and lets a stream of the old configuration end', async () => {
    const { promise, resolve: goOn } = Promise.withResolvers<void>()
    async function* halves() {
      for (const [index, frame] of chatFrames('Hello', ' there').entries()) {
        if (index === 2) await promise
        yield printed(frame)
      }
    }
    upstream.answer({ headers: { 'content-type': 'text/event-stream' }, chunks: halves() })
    const stream = openai(gateway).chat.completions.stream({ model: 'far', messages })
    const text = stream.finalContent()
    await stream.emitted('content')
    await changed(() => gateway.configure({ models: [...models, { name: 'new', provider: 'echo' }] }))
    expect(await says('new')).to.equal('hello')
    expect(await status('/v1/chat/completions', { model: 'far', messages })).to.equal(404)
    goOn()
    expect(await text).to.equal('Hello there')
    await changed(() => gateway.configure({}))
    expect(await status('/v1/chat/completions', { model: 'new', messages })).to.equal(404)
  })

  it('takes a new key, and refuses one that is gone', async () => {
    const key = 'sk-another-0123456789abcdef0123456789abcdef'
    const ask = () =>
      gateway.ask('/v1/chat/completions', { model: 'echo', messages }, { authorization: `Bearer ${key}` })
    expect((await ask()).status).to.equal(401)
    await changed(() =>
      gateway.configure({
        api_keys: [
          { name: 'test', key: gateway.key },
          { name: 'another', key },
        ],
      }),
    )
    expect((await ask()).status).to.equal(200)
    await changed(() => gateway.configure({}))
    expect((await ask()).status).to.equal(401)
  })

  it('refuses a key of the name of a stored one, and leaves the stored one out where it was made later', async () => {
    const key = 'sk-declared-0123456789abcdef0123456789abcdef'
    const own = { name: 'test', key: gateway.key }
    const ask = async (text: string) => {
      const answer = await gateway.ask(
        '/v1/chat/completions',
        { model: 'echo', messages },
        { authorization: `Bearer ${text}` },
      )
      await answer.bytes()
      return answer.status
    }
    const { text, id } = await keysOf(gateway.engine).create({ name: 'stored' })
    expect(await refused(() => gateway.configure({ api_keys: [own, { name: 'Stored', key }] }))).to.match(
      /^sluice\.yaml:\d+:\d+: api key "Stored" exists in the database too; rename one \[keys\]$/,
    )
    expect([await ask(text), await ask(key)]).to.deep.equal([200, 401])
    await mended(() => gateway.configure({ api_keys: [own, { name: 'later', key }] }))
    const { text: late } = await keyStore(gateway.engine.database).createKey({ name: 'later' })
    await until(async () => JSON.stringify((await gateway.ready()).body).includes('"degraded":["api_keys"]'))
    expect([await ask(late), await ask(key)]).to.deep.equal([401, 200])
    expect(await gateway.engine.live.reload(), 'what runs already goes on').to.deep.equal([])
    await changed(() => gateway.configure({}))
    expect([await ask(late), await ask(key), await ask(text)]).to.deep.equal([200, 401, 200])
    await keysOf(gateway.engine).revoke({ id, name: 'stored' })
  })

  it('follows a pipeline', async () => {
    const file = 'pipelines/embeddings.yaml'
    const text = await readFile(`${gateway.folder}/${file}`, 'utf8')
    const embed = () => status('/v1/embed', { model: 'echo', input: 'hello' })
    expect(await embed()).to.equal(404)
    await changed(() => gateway.write(file, text.replace('POST /v1/embeddings', 'POST /v1/embeddings, POST /v1/embed')))
    expect(await embed()).to.equal(200)
    await changed(() => gateway.write(file, text.replace('- parse', '- parse: { limit: 20 }')))
    expect(await embed()).to.equal(404)
    expect(await status('/v1/embeddings', { model: 'echo', input: 'hello' })).to.equal(413)
    expect(await refused(() => gateway.write(file, text.replace('- validate', '- valdiate')))).to.match(
      /^pipelines\/embeddings\.yaml:\d+:\d+: .*"valdiate".*did you mean "validate"/,
    )
    await mended(() => gateway.write(file, text))
    expect(await status('/v1/embeddings', { model: 'echo', input: 'hello' })).to.equal(200)
  })

  it('follows a plugin, in each of its files', async () => {
    expect(await says('word')).to.equal('One!')
    await changed(() => gateway.write('mine/word.ts', "export const word: string = 'Two'\n"))
    expect(await says('word')).to.equal('Two!')
    await changed(() => gateway.write('mine/index.ts', plugin('?')))
    expect(await says('word')).to.equal('Two?')
    expect(await refused(() => gateway.write('mine/word.ts', 'export const word: string = ('))).to.match(/^mine\//)
    expect(await says('word')).to.equal('Two?')
    await mended(() => gateway.write('mine/word.ts', "export const word: string = 'Three'\n"))
    expect(await says('word')).to.equal('Three?')
  })

  it('keeps the last good configuration', async () => {
    expect(await refused(() => gateway.configure({ models: [{ name: 'echo', provider: 'ecoh' }] }))).to.match(
      /^sluice\.yaml:\d+:\d+: .*"ecoh".*did you mean "echo"/,
    )
    expect(await refused(() => gateway.write('sluice.yaml', 'models: ['))).to.match(/^sluice\.yaml:1:/)
    await mended(() => gateway.configure({}))
    expect(await says('echo')).to.equal('hello')
  })
})

describe('a gateway whose upstream is removed', () => {
  it('closes the connections to it', async () => {
    const arrived: Socket[] = []
    const upstream = createServer((_, response) => {
      response.setHeader('content-type', 'application/json')
      response.end('{"object":"list","model":"m","data":[],"usage":{"prompt_tokens":1,"total_tokens":1}}')
    }).on('connection', (socket) => arrived.push(socket))
    await once(upstream.listen(0, '127.0.0.1'), 'listening')
    const base_url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`
    const gateway = await startFolder(
      {
        providers: [{ name: 'far', type: 'native', base_url, api_key: 'key-of-far' }],
        models: [{ name: 'm', provider: 'far' }],
      },
      {},
    )
    try {
      const answer = await gateway.ask('/v1/embeddings', { model: 'm', input: 'hello' })
      await answer.bytes()
      expect([answer.status, arrived.length]).to.deep.equal([200, 1])
      const [connection] = arrived as [Socket]
      expect(connection.destroyed).to.equal(false)
      const closed = once(connection, 'close')
      await gateway.configure({ providers: [{ name: 'echo', type: 'echo' }], models: [] })
      await closed
    } finally {
      await gateway.close()
      upstream.close()
    }
  })
})
