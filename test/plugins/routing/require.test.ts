import { expect } from 'chai'
import type { Catalog, Host, ModelRecord, Scope, Slots } from '../../../engine/index.ts'
import require from '../../../plugins/routing/require.ts'
import { thrown } from '../protocols/decisions/exchange.ts'

const record = (name: string, more: Partial<ModelRecord> = {}): ModelRecord => ({
  name,
  provider: 'gateway',
  upstream_model: name,
  aliases: [],
  supports_images: false,
  supports_tools: false,
  supports_mapeval: false,
  supports_realtime: false,
  auto_eligible: false,
  fallbacks: [],
  ...more,
})

const models = [
  record('judge', { supports_mapeval: true }),
  record('chat'),
  record('voice', { supports_realtime: true }),
  record('first', { supports_mapeval: true, fallbacks: ['chat', 'judge', 'nobody', 'voice'] }),
]
const find = (name: string) => models.find((model) => model.name === name)
const host = { catalog: { models, find } as Partial<Catalog> } as Host

function run(flag: 'supports_mapeval' | 'supports_realtime', name: string) {
  const stage = require.build({ flag }, host)
  return (model = find(name)) => {
    const target = model ? { name, model } : { name }
    return (stage({ target }, {} as Scope) as Pick<Slots, 'target'>).target
  }
}

describe('require', () => {
  it('lets a model pass that carries the flag', () => {
    expect(run('supports_mapeval', 'judge')()).to.deep.equal({ name: 'judge', model: find('judge') })
    expect(run('supports_realtime', 'voice')().model).to.equal(find('voice'))
  })

  it('refuses one that does not, and a name that is no model', () => {
    for (const name of ['chat', 'voice', 'auto'])
      expect(thrown(run('supports_mapeval', name))).to.deep.equal({
        code: 'invalid_request_error',
        message: `The model "${name}" is not served on this endpoint: it is not a decision model.`,
        tags: [],
      })
    expect(thrown(run('supports_realtime', 'judge'))?.message).to.equal(
      'The model "judge" is not served on this endpoint: it serves no realtime sessions.',
    )
  })

  it('leaves out fallbacks that do not carry it, the same way each time', () => {
    const again = run('supports_mapeval', 'first')
    expect(again().model?.fallbacks).to.deep.equal(['judge'])
    expect(again().model).to.equal(again().model)
    expect(find('first')?.fallbacks).to.have.length(4)
  })
})
