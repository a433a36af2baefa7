import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { copyPipelines } from '../support/pipelines.ts'
import type { Pipelines } from '../support/pipelines.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { asked, chatSaying, message, nativeAnswer } from './stored-upstreams.ts'

/** Two stages that keep a word from everybody: one changes what was sent, the other the neutral form. */
const plugin = `
const stage = (name, change) => ({
  kind: 'stage', name, summary: 'Hides a word.', config: { type: 'object', properties: {}, additionalProperties: false },
  needs: ['request'], provides: ['request'], build: () => ({ request }) => ({ request: change(request) }),
})
const hidden = (value) => JSON.parse(JSON.stringify(value).replaceAll('hunter2', 'XXXXX'))
export default {
  kind: 'plugin', name: 'hiding', summary: 'Hides a word.',
  stages: [
    stage('mask', (request) => request.rewrite(hidden)),
    stage('mask-neutral', (request) => request.operation === 'generate' ? request.with({ neutral: hidden(request.neutral('generate')) }) : request),
  ],
}
`

describe('a request that a stage has changed', () => {
  let upstream: ScriptedUpstream
  let folder: string
  let pipelines: Pipelines[]
  let gateways: RunningGateway[]
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-hiding-'))
    await writeFile(join(folder, 'hiding.ts'), plugin)
    upstream = await scriptedUpstream()
    pipelines = []
    gateways = []
  })
  after(async () => {
    await Promise.all(gateways.map((gateway) => gateway.close()))
    await Promise.all(pipelines.map((copy) => copy.remove()))
    await upstream.close()
    await rm(folder, { recursive: true })
  })

  const start = async (stage: string, before: string) => {
    const copy = await copyPipelines()
    pipelines.push(copy)
    await copy.edit('responses.yaml', `- ${before}`, `- ${stage}\n  - ${before}`)
    await copy.edit('embeddings.yaml', '- use: route', `- ${stage}\n  - use: route`)
    const at = { base_url: upstream.url, api_key: 'k' }
    const gateway = await startGateway({
      plugins: [join(folder, 'hiding.ts')],
      pipelines: copy.folder,
      providers: [
        { name: 'native', type: 'native', ...at },
        { name: 'vendor', type: 'native', ...at, conversations: 'vendor' },
        { name: 'chat', type: 'compatible', ...at },
      ],
      models: ['native', 'vendor', 'chat'].map((name) => ({ name, provider: name })),
    })
    gateways.push(gateway)
    return gateway
  }
  /** What the client, the upstream and the store have of the turns. */
  const everything = async (gateway: RunningGateway, model: string) => {
    const before = upstream.requests.length
    const say = (id: string) =>
      model === 'chat' ? chatSaying('Fine.') : { body: nativeAnswer(id, [message(`msg_${id}`, 'Fine.')]) }
    upstream.answer(say('resp_m1'), say('resp_m2'))
    let previous: JsonObject = {}
    const told: string[] = []
    for (const input of ['My password is hunter2.', 'Is hunter2 a good one?']) {
      const body = { model, input, instructions: 'Never say hunter2.', ...previous }
      const response = await gateway.post('/v1/responses', body)
      expect(response.status).to.equal(200)
      const answer = (await response.json()) as JsonObject
      const id = answer['id'] as string
      previous = { previous_response_id: id }
      const headers = { authorization: `Bearer ${gateway.key}` }
      const kept = await fetch(`${gateway.url}/v1/responses/${id}`, { headers })
      const items = await fetch(`${gateway.url}/v1/responses/${id}/input_items`, { headers })
      told.push(model === 'chat' ? JSON.stringify(answer) : '', await kept.text(), await items.text())
    }
    return { sent: upstream.requests.slice(before), told: told.join('\n') }
  }

  for (const model of ['native', 'vendor', 'chat'])
    it(`is nowhere what it was, with an upstream of ${model}`, async () => {
      const { sent, told } = await everything(await start('mask', 'recall'), model)
      expect(sent).to.have.length(2)
      for (const { body } of sent)
        expect(body.toString()).to.include('My password is XXXXX.').and.not.include('hunter2')
      expect(told).to.include('My password is XXXXX.').and.not.include('hunter2')
    })

  it('is changed in what it was completed with, too', async () => {
    const { sent, told } = await everything(await start('mask', 'use: route'), 'chat')
    expect(sent.map(({ body }) => body.toString()).join('')).to.not.include('hunter2')
    expect(told).to.include('My password is XXXXX.').and.not.include('hunter2')
  })

  it('is stored as its neutral form says', async () => {
    const gateway = await start('mask-neutral', 'recall')
    upstream.answer(chatSaying('Fine.'))
    const response = await gateway.post('/v1/responses', { model: 'chat', input: 'My password is hunter2.' })
    const { id } = (await response.json()) as { id: string }
    const headers = { authorization: `Bearer ${gateway.key}` }
    const items = await (await fetch(`${gateway.url}/v1/responses/${id}/input_items`, { headers })).text()
    expect(items).to.include('My password is XXXXX.').and.not.include('hunter2')
    expect(upstream.requests.at(-1)?.body.toString()).to.include('My password is XXXXX.')
  })

  it('goes on as it is now where nothing translates it', async () => {
    const gateway = await start('mask', 'recall')
    upstream.answer({ body: { object: 'list', data: [], usage: { prompt_tokens: 1, total_tokens: 1 } } })
    const response = await gateway.post('/v1/embeddings', { model: 'native', input: 'hunter2' })
    expect(response.status).to.equal(200)
    const [sent] = upstream.requests.slice(-1)
    expect(sent && asked(sent)).to.deep.equal({ model: 'native', input: 'XXXXX' })
  })
})
