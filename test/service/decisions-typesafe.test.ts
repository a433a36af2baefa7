import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { asMapeval, bridges, decisionsAnswer, mapevalAnswer, startDecisions } from './decisions-conversation.ts'
import type { Conversation } from './decisions-conversation.ts'

/** What is used here of the client of the other envelope, 0.6. */
interface Sdk {
  readonly TypeSafeClient: new (settings: {
    readonly apiKey: string
    readonly baseURL: string
    readonly fetch: (input: string, init?: RequestInit) => Promise<Response>
    readonly retry: { readonly maxRetries: number }
    readonly logLevel: 'off'
  }) => {
    systemOne(request: JsonObject): Promise<{
      readonly model: string
      readonly answers: Readonly<Record<string, JsonObject>>
      readonly usage: JsonObject
    }>
  }
  readonly noul: (instructions: string, criteria?: JsonObject) => JsonObject
  readonly choice: (instructions: string, criteria: JsonObject) => JsonObject
  readonly score: (instructions: string, criteria: readonly string[]) => JsonObject
}

/** The client; undefined where it is not installed. */
async function installed(name: string): Promise<Sdk | undefined> {
  try {
    return (await import(name)) as Sdk
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND') return undefined
    throw error
  }
}

describe('the typesafe client', () => {
  let conversation: Conversation
  let sdk: Sdk
  before(async function () {
    const found = await installed('@typesafe-ai/sdk')
    if (!found) return this.skip()
    sdk = found
    conversation = await startDecisions()
  })
  after(() => conversation?.close())

  const client = () =>
    new sdk.TypeSafeClient({
      apiKey: conversation.gateway.key,
      baseURL: conversation.gateway.url,
      fetch: (input, init) => fetch(input.replace('/v1/systemone', '/v1/mapeval'), init),
      retry: { maxRetries: 0 },
      logLevel: 'off',
    })
  const questions = () => ({
    bug: sdk.noul('Is it a bug?', { true: 'it breaks' }),
    team: sdk.choice('Whose is it?', { web: 'pages', true: null }),
    weight: sdk.score('How bad?', ['low', 'high']),
  })

  for (const type of bridges)
    it(`is answered by ${type}, which gets its own bytes`, async () => {
      const answer = mapevalAnswer('bug')
      conversation.upstreams[type].answer({ body: answer })
      const { model, answers, usage } = await client().systemOne({
        model: type,
        state: { a: 1 },
        questions: questions(),
      })
      expect({ model, answers, usage }).to.deep.equal(answer)
      expect(conversation.last(type)).to.deep.equal({
        path: '/v1/mapeval',
        key: `Bearer key-of-${type}`,
        body: JSON.stringify({
          model: `${type}-2026`,
          state: { a: 1 },
          questions: {
            ...asMapeval.questions,
            bug: { type: 'noul', instructions: 'Is it a bug?', criteria: { true: 'it breaks' } },
          },
        }),
      })
    })

  it('is answered by a native provider, which is asked as by a client of decisions', async () => {
    const answer = decisionsAnswer(['bug', 'team', 'weight'], 'true')
    conversation.upstreams.native.answer({ body: answer })
    const { answers, usage } = await client().systemOne({ model: 'native', state: 'Text.', questions: questions() })
    expect(answers).to.deep.equal(mapevalAnswer('bug')['answers'])
    expect(usage).to.deep.equal(answer['usage'])
    expect(conversation.last('native')).to.deep.include({
      path: '/v1/decisions',
      body: JSON.stringify({
        model: 'native-2026',
        input: 'Text.',
        questions: [
          { type: 'predicate', name: 'bug', instructions: 'Is it a bug?\n\nTrue: it breaks' },
          {
            type: 'choice',
            name: 'team',
            instructions: 'Whose is it?',
            choices: [{ value: 'web', description: 'pages' }, { value: 'true' }],
          },
          { type: 'score', name: 'weight', instructions: 'How bad?', levels: [{ label: 'low' }, { label: 'high' }] },
        ],
      }),
    })
  })

  it('is answered by echo', async () => {
    const { answers } = await client().systemOne({ model: 'echo', state: 'Text.', questions: questions() })
    expect(answers).to.have.keys('bug', 'team', 'weight')
  })

  it('learns what is wrong with a request', async () => {
    const asking = client().systemOne({ model: 'echo', state: 'Text.', questions: { q: { type: 'noul' } } })
    const error = await asking.catch((reason: unknown) => reason)
    expect(error).to.include({ status: 422 })
    expect((error as { body: { error: JsonObject } }).body.error).to.include({ param: 'questions.q.instructions' })
  })

  it('learns that a model is none that decides', async () => {
    const asking = client().systemOne({ model: 'flagless-native', state: 'Text.', questions: questions() })
    expect(await asking.catch((reason: unknown) => reason)).to.include({ status: 400 })
  })
})
