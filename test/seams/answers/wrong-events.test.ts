import { join } from 'node:path'
import { expect } from 'chai'
import { FrameDecoder, parsedObject } from '../../../engine/kit.ts'
import { startGateway } from '../../support/gateway.ts'
import type { RunningGateway } from '../../support/gateway.ts'
import { copyPipelines } from '../../support/pipelines.ts'
import type { Pipelines } from '../../support/pipelines.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { ScriptedUpstream } from '../../support/upstream.ts'
import { chatAnswer, chatFrames } from '../../service/streams.ts'
import { mistakes } from './mistakes.ts'

const content = [{ role: 'user', content: 'Hi' }]
const clients = {
  chat: { path: '/v1/chat/completions', body: { messages: content } },
  messages: { path: '/v1/messages', body: { max_tokens: 99, messages: content } },
  responses: { path: '/v1/responses', body: { input: 'Hi', store: false } },
}

/** Whether the last event with data ends a stream as a failure of its protocol. */
const failed = {
  chat: (data: readonly string[]) => parsedObject(data.at(-1) ?? '')?.['error'] !== undefined,
  messages: (data: readonly string[]) => parsedObject(data.at(-1) ?? '')?.['type'] === 'error',
  responses: (data: readonly string[]) =>
    data.at(-1) === '[DONE]' &&
    data
      .slice(-3, -1)
      .map((one) => JSON.stringify(parsedObject(one)?.['type']))
      .join() === '"error","response.failed"',
}

describe('events that a stage gets wrong', () => {
  let upstream: ScriptedUpstream
  let pipelines: Pipelines
  let gateway: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    pipelines = await copyPipelines()
    await pipelines.edit('generate.yaml', '- call', '- call\n        - wrong.map')
    gateway = await startGateway({
      plugins: [join(import.meta.dirname, 'wrong.ts')],
      pipelines: pipelines.folder,
      providers: [{ name: 'family', type: 'compatible', base_url: upstream.url, api_key: 'k' }],
      models: Object.keys(mistakes).map((name) => ({ name, provider: 'family', upstream_model: 'm' })),
    })
  })
  after(async () => {
    await gateway.close()
    await pipelines.remove()
    await upstream.close()
  })

  /** The places of the stages that the log blames since it had `seen` lines. */
  const blamed = (seen: number) =>
    gateway.lines.slice(seen).flatMap((line) => {
      const { msg, at } = JSON.parse(line) as { readonly msg: string; readonly at?: string }
      return msg === 'a stage failed to change an answer' ? [at] : []
    })

  for (const model of Object.keys(mistakes))
    for (const [name, { path, body }] of Object.entries(clients)) {
      it(`${model}: fails a stream of ${name}, and the log names the stage`, async () => {
        const seen = gateway.lines.length
        upstream.answer({ frames: chatFrames('Hello ', 'there') })
        const response = await gateway.post(path, { ...body, model, stream: true })
        const text = await response.text()
        expect(response.status, text).to.equal(200)
        const data = new FrameDecoder().push(Buffer.from(text)).map((frame) => frame.data)
        expect(failed[name as keyof typeof failed](data), text).to.equal(true)
        expect(text).not.to.include('concern')
        const places = blamed(seen)
        expect(places).to.have.length(1)
        expect(places[0]).to.match(/generate\.yaml:\d+:\d+ \(wrong\.map\)$/)
        expect((await gateway.rows()).at(-1)).to.include({ result: 'failed', model })
      })

      it(`${model}: refuses a whole answer of ${name}, and the log names the stage`, async () => {
        const seen = gateway.lines.length
        upstream.answer({ body: chatAnswer })
        const response = await gateway.post(path, { ...body, model })
        expect(response.status).to.equal(500)
        expect(await response.json()).to.have.property('error')
        const places = blamed(seen)
        expect(places).to.have.length(1)
        expect(places[0]).to.match(/generate\.yaml:\d+:\d+ \(wrong\.map\)$/)
      })
    }
})
