import { expect } from 'chai'
import { GatewayError } from '../../../engine/index.ts'
import type { Host, ModelRecord, Principal, Scope, Slots } from '../../../engine/index.ts'
import resolve from '../../../plugins/routing/resolve.ts'

const record = (name: string, ...aliases: readonly string[]) =>
  ({ name, aliases }) as Partial<ModelRecord> as ModelRecord
const models = [record('gpt-small', 'small-model'), record('gpt-large'), record('secret-model'), record('far/*')]
const find = (name: string) => models.find((model) => model.name === name || model.aliases.includes(name))
const host = { catalog: { models, find, provider: () => ({}) } } as unknown as Host

function run(model: string, ...allowed: readonly string[]) {
  const principal: Principal = {
    kind: 'key' as const,
    id: '1',
    name: 'one',
    ...(allowed.length > 0 ? { models: new Set(allowed) } : {}),
  }
  const stage = resolve.build({ allowlist: true }, host, {})
  return stage({ request: { model }, principal }, {} as Scope) as Pick<Slots, 'target'>
}

function refusal(model: string, ...allowed: readonly string[]): string {
  const [code, status] = allowed.length > 0 ? ['model_not_allowed', 403] : ['model_not_found', 404]
  try {
    run(model, ...allowed)
  } catch (error) {
    expect(error).to.be.instanceOf(GatewayError).and.include({ code })
    expect((error as GatewayError).failure).to.include({ status, param: 'model' })
    return (error as GatewayError).message
  }
  return expect.fail('it should have been refused')
}

describe('resolve', () => {
  it('finds a model by name and alias', () => {
    expect(run('small-model').target).to.deep.equal({ name: 'small-model', model: models[0] })
  })

  it('suggests the nearest name', () => {
    expect(refusal('gpt-smal')).to.equal('The model "gpt-smal" does not exist; did you mean "gpt-small"?')
    expect(refusal('Small-Modle')).to.equal('The model "Small-Modle" does not exist; did you mean "small-model"?')
    expect(refusal('claude')).to.equal('The model "claude" does not exist.')
  })

  it('never tells of a model that the key may not use', () => {
    expect(refusal('secret-modle', 'gpt-small')).to.equal('This API key may not use the model "secret-modle".')
    expect(refusal('gpt-smal', 'gpt-large', 'secret-model')).not.to.include('gpt-small')
    expect(refusal('small-modl', 'gpt-large')).to.equal('This API key may not use the model "small-modl".')
  })

  it('knows patterns: those of a key, and those that are names of models and stand for others', () => {
    expect(refusal('gpt-smal', 'gpt-*')).to.equal('This API key may not use the model "gpt-smal".')
    expect(refusal('far/')).to.equal('The model "far/" does not exist.')
  })

  it('neither repeats nor compares a long name', () => {
    const message = refusal('gpt-small'.repeat(100_000))
    expect(message).to.have.length.below(200)
    expect(message).not.to.include('did you mean')
  })
})
