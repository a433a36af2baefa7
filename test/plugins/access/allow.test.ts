import '../../../plugins/access/error-codes.ts'
import { expect } from 'chai'
import { ExchangeScope } from '../../../engine/http/scope.ts'
import { GatewayError } from '../../../engine/index.ts'
import type { Host } from '../../../engine/index.ts'
import allow from '../../../plugins/access/allow.ts'

/** Its codec declares no choices; those of real ones are in test/service/choices.test.ts. */
const host = { codec: () => ({}) } as unknown as Host
const offer = { operation: 'generate', protocol: 'chat' }
const small = { offer, model: { name: 'small', aliases: ['tiny'], upstream_model: 'vendor-small' } }
const large = { offer, model: { name: 'large', aliases: [], upstream_model: 'vendor-large' } }

function ask(
  models: readonly string[] | undefined,
  asked = 'tiny',
  target?: object,
): { readonly candidates?: unknown } {
  const principal = {
    kind: 'key' as const,
    id: '1',
    name: 'one',
    ...(models === undefined ? {} : { models: new Set(models) }),
  }
  const slots = { principal, request: { model: asked, protocol: 'chat', body: {} }, target, candidates: [small, large] }
  return allow.build({}, host)(slots, new ExchangeScope()) as { readonly candidates?: unknown }
}

describe('plugins/access/allow', () => {
  it('needs and provides what it uses', () => {
    expect(allow).to.deep.include({
      name: 'allow',
      needs: ['principal', 'request', 'candidates'],
      provides: ['candidates'],
    })
  })

  it('leaves all to a key without a list', () => {
    expect(ask(undefined)).to.deep.equal({ candidates: [small, large] })
  })

  it('leaves those whose own name is on the list, in their order', () => {
    expect(ask(['large', 'small', 'other'])).to.deep.equal({ candidates: [small, large] })
    expect(ask(['large'], 'tiny', { name: 'auto' })).to.deep.equal({ candidates: [large] })
  })

  it('lets no fallback answer for a model that the key may not use', () => {
    expect(() => ask(['large']))
      .to.throw(GatewayError)
      .that.includes({ code: 'model_not_allowed' })
    expect(ask(['small'], 'tiny', { name: 'tiny', ...small })).to.deep.equal({ candidates: [small] })
    expect(() => ask(['large'], 'tiny', { name: 'tiny', ...small }))
      .to.throw(GatewayError)
      .that.includes({ code: 'model_not_allowed' })
  })

  it('goes by the name of the record: no alias, upstream name or other spelling opens it', () => {
    for (const name of ['tiny', 'vendor-small', 'Small', 'small ', 'small*', '*l', 'auto', '__proto__']) {
      expect(() => ask([name]), name)
        .to.throw(GatewayError)
        .that.includes({ code: 'model_not_allowed' })
    }
  })

  it('opens what fits a name that ends in *', () => {
    expect(ask(['sm*'])).to.deep.equal({ candidates: [small] })
    expect(ask(['*'])).to.deep.equal(ask(['small', 'large']))
  })

  it('names the model asked for when none is left', () => {
    expect(() => ask([]))
      .to.throw(GatewayError, 'This API key may not use the model "tiny".')
      .that.has.property('failure')
      .that.includes({ status: 403, code: 'model_not_allowed', param: 'model' })
    expect(() => ask([], 'x'.repeat(1000))).to.throw(GatewayError, `"${'x'.repeat(128)}"`)
  })
})
