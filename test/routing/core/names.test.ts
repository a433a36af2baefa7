import { expect } from 'chai'
import { startGateway } from '../../support/gateway.ts'
import type { RunningGateway } from '../../support/gateway.ts'
import { configuration, sandbox } from '../../engine/cli/sandbox.ts'

const messages = [{ role: 'user', content: 'Hello' }]
const input = 'Hello'
const question = { type: 'predicate', instructions: 'Is it a greeting?' }

/** A body for each endpoint that names a model. */
const endpoints: readonly [path: string, body: object, kind: 'served' | 'decided' | 'elsewhere'][] = [
  ['/v1/chat/completions', { messages }, 'served'],
  ['/v1/messages', { messages, max_tokens: 16 }, 'served'],
  ['/v1/responses', { input }, 'served'],
  ['/v1/messages/count_tokens', { messages }, 'served'],
  ['/v1/responses/input_tokens', { input }, 'served'],
  ['/v1/responses/compact', { input }, 'served'],
  ['/v1/decisions', { input, questions: [question] }, 'decided'],
  ['/v1/mapeval', { state: input, questions: { q: { type: 'noul', instructions: 'Is it?' } } }, 'decided'],
  ['/v1/embeddings', { input }, 'elsewhere'],
  ['/v1/images/generations', { prompt: input }, 'elsewhere'],
  ['/v1/audio/speech', { input, voice: 'alloy' }, 'elsewhere'],
]

interface Refused {
  readonly error: { readonly message: string; readonly type: string; readonly param?: string; readonly code?: string }
}

const off = 'The model "auto" needs smart routing, which is off (server_config.smart_routing.enabled).'
const empty = 'The model "auto" has nothing to choose from: no model has auto_eligible: true.'
const elsewhere = 'The model "auto" is chosen per conversation and is not served on this endpoint.'
const undecided = 'The model "auto" is not served on this endpoint: it is not a decision model.'

describe('routing/names', () => {
  for (const [state, server_config, eligible, reason] of [
    ['while smart routing is off', {}, true, off],
    ['while no model is eligible', { smart_routing: { enabled: true } }, false, empty],
    ['while smart routing is on', { smart_routing: { enabled: true } }, true, undefined],
  ] as const)
    describe(state, () => {
      let gateway: RunningGateway
      before(async () => {
        gateway = await startGateway({
          models: [{ name: 'echo', provider: 'echo', auto_eligible: eligible }],
          server_config,
        })
      })
      after(() => gateway.close())

      for (const [path, body, kind] of endpoints)
        it(`are answered at ${path}`, async () => {
          const answer = await gateway.post(path, { ...body, model: 'AUTO' })
          const { error } = (await answer.json()) as Partial<Refused>
          if (kind === 'decided' || kind === 'elsewhere') {
            expect(answer.status).to.equal(400)
            expect(error).to.deep.include({
              message: kind === 'decided' ? undecided : elsewhere,
              type: 'invalid_request_error',
              param: 'model',
              code: 'invalid_request_error',
            })
          } else if (reason === undefined) expect(error ?? undefined, JSON.stringify(error)).to.equal(undefined)
          else {
            expect(answer.status).to.equal(400)
            expect(error?.message).to.equal(reason)
            if (!path.includes('messages'))
              expect(error).to.deep.include({ code: 'configuration_error', param: 'model' })
          }
        })
    })

  it('are refused for models and aliases, whether or not smart routing is on', async () => {
    const here = await sandbox({
      'config/sluice.yaml': configuration.replace('name: echo, provider', 'name: Fast, aliases: [AUTO], provider'),
    })
    const { status, out } = await here.run('check')
    expect(status).to.equal(1)
    expect(out.map((line) => line.replace(/^.*?: /, ''))).to.deep.equal([
      '"Fast" is a virtual model, so no model can have the name [duplicate]',
      '"AUTO" is a virtual model, so no model can have the name [duplicate]',
    ])
    await here.remove()
  })
})
