import { expect } from 'chai'
import { copyPipelines } from '../support/pipelines.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { Rig, wholeOf } from './rig.ts'

describe('guards: files that were fetched', () => {
  let files: ScriptedUpstream
  let pipelines: Awaited<ReturnType<typeof copyPipelines>>
  const rig = new Rig(async () => {
    files = await scriptedUpstream()
    pipelines = await copyPipelines()
    const inline = "        - inline-files # for providers that accept a file's bytes but not its URL\n"
    await pipelines.edit('generate.yaml', inline, '')
    await pipelines.edit(
      'generate.yaml',
      '        - guard: { side: input, of: model }',
      '        - inline-files: { private_addresses: true }\n        - guard: { side: input, of: model }',
    )
    return {
      records: { guards: [{ name: 'pii', kind: 'pii', action: 'mask', entities: ['email'], default: false }] },
      pipelines: pipelines.folder,
      providers: [{ name: 'all', type: 'compatible', base_url: files.url, traits: { files: true } }],
      models: [{ name: 'reader', provider: 'all', guards: ['pii'] }],
    }
  })
  after(async () => {
    await files.close()
    await pipelines.remove()
  })

  it('stay in a request that is masked after them, and are fetched once', async () => {
    const bytes = Buffer.from('%PDF-1.7 of a page')
    files.answer(
      { body: bytes, headers: { 'content-type': 'application/pdf' } },
      { body: wholeOf.chat({ text: ['Yes.'] }) },
    )
    const file = { type: 'input_file', file_url: `${files.url}/a.pdf`, filename: 'a.pdf' }
    const content = [file, { type: 'input_text', text: 'Mail ann@example.com' }]
    const response = await rig.gateway.post('/v1/responses', { model: 'reader', input: [{ role: 'user', content }] })
    expect(response.status, await response.text()).to.equal(200)
    expect(files.requests.map(({ path }) => path)).to.deep.equal(['/a.pdf', '/v1/chat/completions'])
    const { messages } = JSON.parse(String(files.requests.at(-1)?.body)) as { messages: [{ content: unknown }] }
    const data = `data:application/pdf;base64,${bytes.toString('base64')}`
    expect(messages[0].content).to.deep.equal([
      { type: 'file', file: { filename: 'a.pdf', file_data: data } },
      { type: 'text', text: 'Mail [EMAIL]' },
    ])
  })
})
