import { expect } from 'chai'
import { assemble } from '../../../engine/components/assemble.ts'
import { printDiagnostic } from '../../../engine/config/diagnostics.ts'
import { loadSettings } from '../../../engine/records/load-settings.ts'
import { readSource } from '../../../engine/config/source.ts'
import { makeCatalog } from '../../../engine/live/catalog.ts'
import { definePlugin, defineProvider, noConfig } from '../../../engine/index.ts'
import { placesOf } from '../../../engine/kit.ts'
import catalog from '../../../plugins/catalog/index.ts'
import { stubs } from '../../engine/pipeline/stubs.ts'

const echo = defineProvider({
  name: 'echo',
  summary: 'Echo.',
  config: noConfig,
  offers: () => [{ operation: 'generate' }],
  open: () => ({}),
})
const plugin = definePlugin({ name: 'echo', summary: 'Echo.', providers: [echo] })
const { registry } = assemble(
  [...(catalog.records ?? []), plugin, ...stubs].map((value) => ({ value, from: 'stubs.ts' })),
)

function load(models: string) {
  const text = `providers: [{ name: a, type: echo }, { name: b, type: echo }]\nmodels: [${models}]`
  const { source } = readSource('s.yaml', text, {})
  const { settings, diagnostics } = loadSettings(source, registry, {})
  return {
    catalog: settings && makeCatalog(settings, new Map()),
    problems: diagnostics.map(printDiagnostic),
  }
}

describe('plugins/catalog, places of models', () => {
  it('are the own provider of a model, and then its deployments', () => {
    const { catalog: made, problems } = load(`
      { name: one, provider: a },
      { name: two, provider: a, upstream_model: big, deployments: [{ provider: b }, { provider: b, upstream_model: c, weight: 2.5 }] },
      { name: three, deployments: [{ provider: b, upstream_model: x, weight: 0 }, { provider: a }] },
      { name: far/*, deployments: [{ provider: a }, { provider: b, upstream_model: v-* }] }`)
    expect(problems).to.deep.equal([])
    const places = (name: string) => {
      const model = made?.find(name)
      return model && placesOf(model).map((one) => `${one.provider} ${one.upstream_model} ${one.weight}`)
    }
    expect(places('one')).to.deep.equal(['a one 1'])
    expect(places('two')).to.deep.equal(['a big 1', 'b big 1', 'b c 2.5'])
    expect(places('three')).to.deep.equal(['b x 0', 'a three 1'])
    expect(made?.find('three')).to.include({ provider: 'b', upstream_model: 'x' })
    expect(places('far/away')).to.deep.equal(['a away 1', 'b v-away 1'])
    expect(made?.find('b/c')?.name).to.equal('two')
  })

  it('have to be there, each once, at providers that are there', () => {
    expect(load('{ name: none }').problems).to.deep.equal(['s.yaml:2:10: "provider" is missing [required]'])
    const { problems } = load(
      '{ name: m, provider: a, deployments: [{ provider: b }, { provider: a }, { provider: b, upstream_model: m }, { provider: c }] }',
    )
    expect(problems.map((line) => line.replace(/^s.yaml:2:\d+: /, ''))).to.have.members([
      'no provider named "c"; did you mean "a"? [unknown-provider]',
      'the same place stands there already [deployment]',
      'the same place stands there already [deployment]',
    ])
  })

  it('are not found while the model is off, also where a pattern bears its name', () => {
    const { catalog: made } = load(`
      { name: off, provider: a, aliases: [gone], enabled: false },
      { name: "*", provider: b },
      { name: on, provider: a, fallbacks: [off] }`)
    expect(made?.models.map(({ name }) => name)).to.deep.equal(['*', 'on'])
    expect(made?.find('off')).to.equal(undefined)
    expect(made?.find('gone')).to.equal(undefined)
    expect(made?.find('other')?.provider).to.equal('b')
  })
})
