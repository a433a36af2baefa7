import { expect } from 'chai'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { pipelineSchema } from '../../../engine/cli/editor-schemas.ts'
import { printDiagnostic } from '../../../engine/config/diagnostics.ts'
import { checkPipelines } from '../../../engine/proof/load.ts'
import { pipelinesIn } from '../../../engine/pipeline/nodes.ts'
import { registryOf, stub, stubs } from './stubs.ts'

const name = (kind: string) => ({ type: 'string', 'x-names': kind, description: 'A name.' })
const ask = stub('ask', [], [], undefined, {
  type: 'object',
  additionalProperties: false,
  properties: {
    model: name('model'),
    protocol: name('protocol'),
    judges: { type: 'array', description: 'Who judges.', items: name('pipeline') },
    by: { type: 'object', description: 'Models by use.', additionalProperties: name('model') },
    auto: {
      description: 'One, or whichever.',
      anyOf: [{ const: 'auto' }, name('model'), { type: 'array', minItems: 2, items: name('protocol') }],
    },
    kinds: {
      type: 'array',
      description: 'Branches by kind.',
      items: {
        type: 'object',
        required: ['kind'],
        oneOf: [
          { properties: { kind: { const: 'model' }, to: name('model') } },
          { properties: { kind: { const: 'url' }, to: { type: 'string' } } },
        ],
      },
    },
    uses: {
      type: 'object',
      description: 'Models by use.',
      properties: { note: { type: 'string' } },
      patternProperties: { '^model_': name('model') },
      additionalProperties: name('protocol'),
    },
    weights: {
      type: 'object',
      description: 'The weight of each model.',
      propertyNames: name('model'),
      additionalProperties: { type: 'number' },
    },
    pair: {
      type: 'array',
      description: 'A model and its protocol.',
      minItems: 2,
      prefixItems: [name('model'), name('protocol')],
      items: false,
    },
    either: { description: 'One or several.', anyOf: [name('model'), { type: 'array', items: name('model') }] },
  },
})
const registry = registryOf([...stubs, ask])

function check(config: string, models?: readonly string[], known = registry) {
  const text = `name: p\nsummary: s.\nroutes: [GET /p]\npublic: true\nstages:\n  - ask: ${config}\n  - reply\n`
  return checkPipelines([{ file: 'p.yaml', text }], known, {}, models && { model: { words: models, patterns: true } })
}

const findings = (config: string, models?: readonly string[], known = registry) =>
  check(config, models, known).diagnostics.map(printDiagnostic)

describe('names in the configuration of a stage', () => {
  it('are found in the names of fields, too', () => {
    expect(findings('{ weights: { smal: 0.5, large: 1 } }', ['small', 'large'])).to.deep.equal([
      'p.yaml:6:29: no model named "smal"; did you mean "small"? [unknown-model]',
    ])
  })

  it('are found wherever they stand, with what was probably meant', () => {
    const config = '{ model: smal, protocol: plian, judges: [p, q], by: { code: large, talk: lagre }, either: [x] }'
    expect(findings(config, ['small', 'large'])).to.have.members([
      'p.yaml:6:19: no model named "smal"; did you mean "small"? [unknown-model]',
      'p.yaml:6:35: no protocol named "plian"; did you mean "plain"? [unknown-protocol]',
      'p.yaml:6:54: no pipeline named "q"; did you mean "p"? [unknown-pipeline]',
      'p.yaml:6:83: no model named "lagre"; did you mean "large"? [unknown-model]',
      'p.yaml:6:101: no model named "x" [unknown-model]',
    ])
  })

  it('are right by name, by alias and by pattern, and any model is while none is known', () => {
    expect(findings('{ model: vendor/one, protocol: plain, judges: [p] }', ['small', 'vendor/*'])).to.deep.equal([])
    expect(findings('{ model: vendor/ }', ['vendor/*'])).to.have.length(1)
    expect(findings('{ model: smal }')).to.deep.equal([])
  })

  it('are those of the branches that apply', () => {
    const known = ['small']
    for (const right of ['auto: auto', 'auto: small', 'kinds: [{ kind: url, to: smal }, { kind: model, to: small }]'])
      expect(findings(`{ ${right} }`, known)).to.deep.equal([])
    expect(findings('{ auto: smal, kinds: [{ kind: model, to: smal }] }', known)).to.deep.equal([
      'p.yaml:6:18: no model named "smal"; did you mean "small"? [unknown-model]',
      'p.yaml:6:51: no model named "smal"; did you mean "small"? [unknown-model]',
    ])
  })

  it('are not looked for where a branch refers to elsewhere in its schema and may take the value without one', () => {
    const model = { description: 'One, or whichever.', anyOf: [{ $ref: '#/$defs/word' }, name('model')] }
    const $defs = { word: { const: 'whichever' } }
    const loose = stub('ask', [], [], undefined, {
      type: 'object',
      additionalProperties: false,
      $defs,
      properties: { model },
    })
    const known = registryOf([...stubs, loose])
    expect(findings('{ model: whichever }', ['small'], known)).to.deep.equal([])
  })

  it('are found by patterns of members, and by their place in a list', () => {
    const known = ['small']
    expect(findings('{ uses: { model_a: small, note: x, other: plain }, pair: [small, plain] }', known)).to.deep.equal(
      [],
    )
    expect(findings('{ uses: { model_a: smal, other: plian }, pair: [plain, small] }', known)).to.deep.equal([
      'p.yaml:6:29: no model named "smal"; did you mean "small"? [unknown-model]',
      'p.yaml:6:42: no protocol named "plian"; did you mean "plain"? [unknown-protocol]',
      'p.yaml:6:58: no model named "plain" [unknown-model]',
      'p.yaml:6:65: no protocol named "small" [unknown-protocol]',
    ])
  })

  it('make the pipelines that they name part of what a fixture copies', () => {
    const { pipelines } = check('{ judges: [p] }')
    expect(pipelinesIn(pipelines[0]!.stages)).to.deep.equal(['p'])
  })

  it('are checked schemas themselves: a kind that does not exist is told at the stage', () => {
    const wrong = stub('wrong', [], [], undefined, {
      type: 'object',
      additionalProperties: false,
      properties: { word: name('modle') },
    })
    expect(() => registryOf([wrong])).to.throw(/stage "wrong".*x-names/)
  })

  it('are completed by editors, which take other names, too', () => {
    const schema = pipelineSchema(registry, { pipeline: { words: ['p', 'q'] }, model: { words: ['small'] } })
    const defs = JSON.stringify(schema)
    for (const names of [['p', 'q'], ['small'], ['plain']]) expect(defs).to.include(`{"enum":${JSON.stringify(names)}}`)
    const valid = new Ajv2020({ strict: false }).compile(schema)
    const steps = (step: object) => valid({ name: 'n', summary: 's.', stages: [step] })
    expect(steps({ ask: { model: 'small', judges: ['p'], by: { code: 'small' } } })).to.equal(true)
    expect(steps({ ask: { model: 'new' } })).to.equal(true)
    expect(steps({ ask: { model: 5 } })).to.equal(false)
    expect(steps({ use: 'p' })).to.equal(true)
  })
})
