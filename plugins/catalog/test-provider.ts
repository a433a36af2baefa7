import { GatewayError, defineAction } from '../../engine/index.ts'
import type { Catalog, ModelRecord, OpenProvider, Scope } from '../../engine/index.ts'
import { asGatewayError, placesOf, shape } from '../../engine/kit.ts'
import { providerIn } from './provider-in.ts'
import { testCall } from './test-call.ts'
import type { Tested } from './test-call.ts'
import { upstreamList } from './upstream-list.ts'

/** Tests a provider with one call of a model, or with its model list. A provider that fails is a result, not an error. */
export default defineAction({
  name: 'test-provider',
  summary: 'Test a provider with one call.',
  route: 'POST /api/config/providers/:name/test',
  access: { role: 'admin' },
  body: {
    type: 'object',
    additionalProperties: false,
    examples: [{ model: 'my-model' }],
    properties: {
      model: { type: 'string', minLength: 1, maxLength: 256, description: 'Name of a model that the provider serves.' },
      upstream_model: {
        type: 'string',
        minLength: 1,
        maxLength: 256,
        description: "The provider's name of any model; with `model`, it replaces that of the model.",
      },
    },
  },
  answer: shape.object({
    ok: shape.flag('Whether it works.'),
    status: shape.orNull(shape.integer('The status of its answer; null: there was none.')),
    latency_ms: shape.integer('How long it took, in milliseconds.'),
    error: shape.orNull(
      shape.object(
        { code: shape.text('The code of the error.'), message: shape.text('What went wrong.') },
        {},
        'Why not.',
      ),
    ),
    checked: shape.text('models: its list of models; none: nothing; otherwise the operation that was called.'),
  }),
  errors: ['invalid_reference', 'stale_version'],
  writes: 'own audit row',
  uses: ['audit'],
  runs: { 'provider-test-call': { inputs: ['ingress', 'candidates'] } },
  async run(input, { audit }, scope, host) {
    const { name, problem } = providerIn(input, host.records)
    const open = host.catalog.provider(name)
    const model = modelIn(input.body, name, host.catalog)
    const started = performance.now()
    const result = await (async (): Promise<Tested> => {
      if (open === undefined || problem !== undefined) return off(problem ?? 'it is off')
      return model ? testCall(open, model, { pipeline: 'provider-test-call', host, scope }) : list(open, scope)
    })()
    const { status, error } = result
    await audit.record({
      action: 'provider.test',
      by: input.by,
      target: { type: 'provider', id: name, name },
      details: { ok: error === null, status, checked: result.checked },
    })
    const shown = error && { code: error.code, message: host.scrub(error.message) }
    const latency = Math.round(performance.now() - started)
    return { ok: error === null, status, latency_ms: latency, error: shown, checked: result.checked }
  },
})

function off(reason: string): Tested {
  return { status: null, error: { code: 'provider_off', message: `The provider is off: ${reason}.` }, checked: 'none' }
}

/** The model to call; undefined: none, the list is asked for. */
function modelIn(
  { model: name, upstream_model: upstream }: { readonly model?: string; readonly upstream_model?: string },
  provider: string,
  catalog: Catalog,
): ModelRecord | undefined {
  if (name === undefined) return upstream === undefined ? undefined : unknownModel(provider, upstream)
  const model = catalog.find(name)
  const place = model && placesOf(model).find((one) => one.provider === provider)
  if (model === undefined || place === undefined) {
    const reason = model ? 'is not served by this provider' : 'is no model'
    throw new GatewayError('invalid_reference', { param: 'model', reason }, { param: 'model' })
  }
  return { ...model, provider, upstream_model: upstream ?? place.upstream_model }
}

/** A model that no record describes. */
function unknownModel(provider: string, upstream_model: string): ModelRecord {
  return {
    name: upstream_model,
    provider,
    upstream_model,
    aliases: [],
    supports_images: false,
    supports_tools: true,
    supports_mapeval: true,
    supports_realtime: false,
    auto_eligible: false,
    fallbacks: [],
  }
}

async function list(open: OpenProvider, scope: Scope): Promise<Tested> {
  const checked = 'models'
  if (open.provider.models === undefined) {
    const message = 'The type of the provider has no list of models; name a model to call.'
    return { status: null, error: { code: 'invalid_reference', message }, checked }
  }
  try {
    await upstreamList(open, scope)
    return { status: 200, error: null, checked }
  } catch (thrown) {
    const { code, message, tags } = asGatewayError(thrown)
    const status = tags.find((tag) => /^[1-5]\d\d$/.test(tag))
    return { status: status === undefined ? null : Number(status), error: { code, message }, checked }
  }
}
