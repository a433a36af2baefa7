import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { startAdmin } from '../../support/admin.ts'
import type { AdminGateway } from '../../support/admin.ts'
import { wrongSignature } from '../../support/converse.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { ScriptedUpstream } from '../../support/upstream.ts'

const at = '/api/config/providers'
const secret = 'secret/of+the/gateway'
const arn = 'arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/a1b2c3'

describe('admin/providers, lists of models at upstreams', function () {
  this.timeout(300_000)
  let gateway: AdminGateway
  let upstream: ScriptedUpstream

  beforeEach(async () => {
    upstream = await scriptedUpstream()
    const base_url = upstream.url
    const aws = { region: 'eu-west-1', base_url }
    gateway = await startAdmin({
      providers: [
        { name: 'google', type: 'gemini', base_url, api_key: 'k' },
        { name: 'messages', type: 'messages', base_url, api_key: 'k' },
        { name: 'pinned', type: 'messages', base_url, api_key: 'k', headers: { 'Anthropic-Version': '2024-01-01' } },
        { name: 'azure', type: 'azure', base_url, api_key: 'k' },
        { name: 'signed', type: 'bedrock', ...aws, access_key_id: 'AKIAEXAMPLE', secret_access_key: secret },
        { name: 'aws', type: 'bedrock', ...aws, api_key: 'k' },
      ],
      models: [{ name: 'flash', provider: 'google', upstream_model: 'gemini-3-flash' }],
    })
  })
  afterEach(async () => {
    await gateway.close()
    await upstream.close()
  })

  const listed = async (provider: string) => {
    const { status, body } = await gateway.asAdmin(`GET ${at}/${provider}/upstream-models`)
    expect(status, JSON.stringify(body)).to.equal(200)
    return (body['data'] as readonly { readonly id: string }[]).map(({ id }) => id)
  }
  const paths = () => upstream.requests.map(({ method, path }) => `${method} ${path}`)
  const pages = (first: JsonObject, ...more: readonly JsonObject[]) =>
    upstream.answer({ body: first }, ...more.map((body) => ({ body })))

  it('have all pages of gemini, with the names that models have here', async () => {
    pages(
      { models: [{ name: 'models/gemini-3-pro' }, { name: 'models/gemini-3-flash' }], nextPageToken: 'a/b+c=' },
      { models: [{ name: 'models/gemini-embedding-001' }, { displayName: 'nameless' }] },
    )
    const { body } = await gateway.asAdmin(`GET ${at}/google/upstream-models`)
    expect(body['data']).to.deep.equal([
      { id: 'gemini-3-pro', name: null, known: {} },
      { id: 'gemini-3-flash', name: 'flash', known: {} },
      { id: 'gemini-embedding-001', name: null, known: {} },
    ])
    expect(paths()).to.deep.equal([
      'GET /v1beta/models?pageSize=1000',
      'GET /v1beta/models?pageSize=1000&pageToken=a%2Fb%2Bc%3D',
    ])
    for (const { headers } of upstream.requests) expect(headers['x-goog-api-key']).to.equal('k')
  })

  it('have the models of gemini that answer or make embeddings, and those whose methods nobody tells', async () => {
    const methods: Readonly<Record<string, readonly string[] | undefined>> = {
      'gemini-3-pro': ['generateContent', 'countTokens', 'createCachedContent'],
      'gemini-embedding-001': ['embedContent', 'countTokens', 'asyncBatchEmbedContent'],
      'imagen-4': ['predict'],
      'veo-3': ['predictLongRunning'],
      'gemini-live': ['bidiGenerateContent', 'countTokens'],
      idle: [],
      untold: undefined,
    }
    const models = Object.entries(methods).map(([name, supportedGenerationMethods]) => ({
      name: `models/${name}`,
      ...(supportedGenerationMethods ? { supportedGenerationMethods } : {}),
    }))
    pages({ models })
    expect(await listed('google')).to.deep.equal(['gemini-3-pro', 'gemini-embedding-001', 'untold'])
  })

  it('have all pages of the messages protocol, asked for in its version', async () => {
    pages(
      { data: [{ id: 'a' }, { id: 'b' }], has_more: true, last_id: 'b' },
      { data: [{ id: 'c' }], has_more: false, last_id: 'c' },
    )
    expect(await listed('messages')).to.deep.equal(['a', 'b', 'c'])
    expect(paths()).to.deep.equal(['GET /v1/models?limit=1000', 'GET /v1/models?limit=1000&after_id=b'])
    for (const { headers } of upstream.requests)
      expect(headers).to.include({ 'x-api-key': 'k', 'anthropic-version': '2023-06-01' })
    pages({ data: [] })
    expect(await listed('pinned')).to.deep.equal([])
    expect(upstream.requests.at(-1)?.headers['anthropic-version']).to.equal('2024-01-01')
  })

  it('are those of the account of azure', async () => {
    pages({ data: [{ id: 'gpt-5', object: 'model' }] })
    expect(await listed('azure')).to.deep.equal(['gpt-5'])
    expect(paths()).to.deep.equal(['GET /openai/v1/models'])
    expect(upstream.requests[0]?.headers).to.include({ 'api-key': 'k' })
  })

  it('are what Converse takes, at bedrock: models, and profiles of the vendor and of the account', async () => {
    pages(
      { modelSummaries: [{ modelId: 'amazon.nova-lite-v1:0' }, { modelName: 'no id' }] },
      {
        inferenceProfileSummaries: [{ inferenceProfileId: 'eu.amazon.nova-lite-v1:0', inferenceProfileArn: 'arn:1' }],
        nextToken: 'next/+=',
      },
      { inferenceProfileSummaries: [{ inferenceProfileId: 'eu.amazon.nova-pro-v1:0', inferenceProfileArn: 'arn:2' }] },
      { inferenceProfileSummaries: [{ inferenceProfileId: 'a1b2c3', inferenceProfileArn: arn }] },
    )
    const names = ['amazon.nova-lite-v1:0', 'eu.amazon.nova-lite-v1:0', 'eu.amazon.nova-pro-v1:0', arn]
    expect(await listed('signed')).to.deep.equal(names)
    const profiles = 'GET /inference-profiles?maxResults=1000'
    expect(paths()).to.deep.equal([
      'GET /foundation-models?byInferenceType=ON_DEMAND&byOutputModality=TEXT',
      `${profiles}&type=SYSTEM_DEFINED`,
      `${profiles}&type=SYSTEM_DEFINED&nextToken=next%2F%2B%3D`,
      `${profiles}&type=APPLICATION`,
    ])
    for (const request of upstream.requests) expect(wrongSignature(request, secret)).to.equal(undefined)
  })

  it('are asked for with an API key of bedrock, each name once', async () => {
    const profile = { inferenceProfileId: 'p', inferenceProfileArn: 'p' }
    const page = { inferenceProfileSummaries: [profile, profile] }
    pages({ modelSummaries: [] }, page, page)
    expect(await listed('aws')).to.deep.equal(['p'])
    for (const { headers } of upstream.requests) expect(headers.authorization).to.equal('Bearer k')
  })

  it('end at a page that fails, and after a hundred pages', async () => {
    const asked = async () => {
      const { status, code, body } = await gateway.asAdmin(`GET ${at}/google/upstream-models`)
      return `${status} ${String(code)} ${(body['error'] as { readonly message: string }).message}`
    }
    upstream.answer({ body: { models: [], nextPageToken: 'more' } }, { status: 429, body: {} })
    expect(await asked())
      .to.include('502 upstream_invalid_response')
      .and.include('it answered with status 429')
    pages({ models: [], nextPageToken: 'more' })
    const before = upstream.requests.length
    expect(await asked()).to.include('its list has more than 100 pages')
    expect(upstream.requests.length - before).to.equal(100)
  })

  it('tell whether a provider works', async () => {
    for (const [provider, list] of Object.entries({ google: { models: [] }, azure: { data: [] } })) {
      pages(list)
      // oxlint-disable-next-line no-await-in-loop
      const { body } = await gateway.asAdmin(`POST ${at}/${provider}/test`, {})
      expect(body).to.include({ ok: true, status: 200, checked: 'models', error: null })
    }
    upstream.answer({ status: 403, body: { message: 'no' } })
    const { body } = await gateway.asAdmin(`POST ${at}/signed/test`, {})
    expect(body).to.include({ ok: false, status: 403, checked: 'models' })
  })
})
