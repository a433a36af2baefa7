import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { configuration, sandbox } from '../../engine/cli/sandbox.ts'
import { startAdmin } from '../../support/admin.ts'
import type { AdminGateway } from '../../support/admin.ts'

const path = '/api/config/server/smart_routing'

const defaults = {
  enabled: false,
  graceful_degradation: false,
  diagnostics: false,
  baseline_model: null,
  default_complexity: 0.5,
  quality_weights: { fast: 0.35, auto: 0.65, best: 1 },
  quality_gate: { fast: 0.5, auto: 0.6, best: 0.85 },
  floors: { vision: 'MEDIUM', structured_output: 'MEDIUM', final_verification: 'MEDIUM' },
  caps: { routine_success: 'MEDIUM' },
  continuity: { bonus: 0.05 },
  exploration: {
    enabled: true,
    warmup_pulls: 3,
    trial_share: 0.1,
    max_cost_ratio: { fast: 1.7, auto: 2.8, best: 2.2 },
    budget_share: 0.05,
  },
  experience: { window: 100, prior_strength: 5, implicit: true },
  keep_prompts: true,
  seed: null,
  judge: {
    enabled: false,
    shadow: true,
    model: null,
    modes: ['auto', 'best'],
    gate: { max_confidence: null, complexity_band: null, not_low_anchor: false },
    sample_rate: 0.02,
    apply_min_confidence: null,
    apply_min_escalation: null,
    deadline_s: 1.5,
    user_turns: 2,
    ask_budget_chars: 4000,
    price: null,
    circuit: { failures: 5, open_s: 30 },
  },
}

describe('routing/settings', () => {
  let gateway: AdminGateway
  before(async () => {
    gateway = await startAdmin({
      models: [
        { name: 'echo', provider: 'echo' },
        { name: 'judge', provider: 'echo', supports_mapeval: true },
        { name: 'vendor/*', provider: 'echo', supports_mapeval: true },
      ],
    })
  })
  after(() => gateway.close())
  const reset = () => gateway.asAdmin(`DELETE ${path}`)
  afterEach(reset)

  const patched = async (patch: object) => {
    const { status, code, param, body } = await gateway.asAdmin(`PATCH ${path}`, patch)
    return status === 200 ? (body['values'] as JsonObject) : `${status} ${String(code)} ${String(param)}`
  }

  it('have defaults, and each may be changed alone', async () => {
    expect((await gateway.asAdmin(`GET ${path}`)).body['values']).to.deep.equal(defaults)
    const values = await patched({ quality_gate: { best: 0.9 }, floors: { vision: 'SIMPLE' }, seed: 's' })
    expect(values).to.deep.equal({
      ...defaults,
      quality_gate: { ...defaults.quality_gate, best: 0.9 },
      floors: { ...defaults.floors, vision: 'SIMPLE' },
      seed: 's',
    })
    await reset()
    expect((await gateway.asAdmin(`GET ${path}`)).body['values']).to.deep.equal(defaults)
  })

  it('lift floors and caps with none, and have the default back with null', async () => {
    const lifted = await patched({ floors: { vision: 'none' }, caps: { routine_success: 'none' } })
    expect(lifted).to.deep.include({
      floors: { ...defaults.floors, vision: 'none' },
      caps: { routine_success: 'none' },
    })
    expect(await patched({ floors: { vision: null }, caps: { routine_success: null } })).to.deep.equal(defaults)
  })

  it('are refused as a whole, each with its place', async () => {
    const cases: readonly [object, string][] = [
      [{ baseline_model: 'nobody' }, '422 invalid_reference baseline_model'],
      [{ judge: { enabled: true } }, '422 invalid_reference judge.model'],
      [{ judge: { enabled: true, model: 'nobody' } }, '422 invalid_reference judge.model'],
      [{ judge: { enabled: true, model: 'echo' } }, '422 invalid_reference judge.model'],
      [{ judge: { gate: { complexity_band: [0.6, 0.4] } } }, '422 invalid_field judge.gate.complexity_band'],
      [{ judge: { modes: ['slow'] } }, '422 invalid_field judge.modes[0]'],
      [{ floors: { vision: 'HUGE' } }, '422 invalid_field floors.vision'],
      [{ quality_weights: { fast: 1.1 } }, '422 invalid_field quality_weights.fast'],
      [{ exploration: { warmup_pulls: 0.5 } }, '422 invalid_field exploration.warmup_pulls'],
      [{ gates: {} }, '422 unknown_field gates'],
    ]
    for (const [patch, expected] of cases) expect(await patched(patch), JSON.stringify(patch)).to.equal(expected)
    expect((await gateway.asAdmin(`GET ${path}`)).body['values']).to.deep.equal(defaults)
  })

  it('take a judge that can judge, by its name or a pattern', async () => {
    for (const model of ['judge', 'vendor/large'])
      expect(await patched({ judge: { enabled: true, model } })).to.deep.include({
        judge: { ...defaults.judge, enabled: true, model },
      })
  })

  it('keep the models that they name', async () => {
    const made = await gateway.asAdmin('POST /api/config/models', {
      name: 'second',
      provider: 'echo',
      supports_mapeval: true,
    })
    expect(made.status).to.equal(201)
    await patched({ judge: { enabled: true, model: 'second' } })
    expect((await gateway.asAdmin('DELETE /api/config/models/second')).code).to.equal('in_use')
    const { status, body } = await gateway.asAdmin('PATCH /api/config/models/second', { supports_mapeval: false })
    expect([status, JSON.stringify(body)]).to.deep.equal([422, JSON.stringify(body)])
    expect(JSON.stringify(body)).to.include('lacks supports_mapeval')
    await reset()
    expect((await gateway.asAdmin('DELETE /api/config/models/second')).status).to.equal(204)
  })

  it('of a file are findings and warnings of the check', async () => {
    const here = await sandbox({})
    const check = async (section: string) => {
      await here.write('config/sluice.yaml', `${configuration}\nserver_config: { smart_routing: ${section} }\n`)
      const { status, out } = await here.run('check')
      return [status, ...out.map((line) => line.replace(/^.*?:\d+:\d+: /, '')).filter((line) => line.endsWith(']'))]
    }
    expect(await check('{ enabled: true }')).to.deep.equal([
      0,
      'warning: no model has auto_eligible: true, so there is nothing to choose from [routing]',
    ])
    expect(await check('{ judge: { enabled: true, model: echo } }')).to.deep.equal([
      1,
      'warning: has no effect while smart routing is off [routing]',
      'the model "echo" lacks supports_mapeval, so it cannot judge [reference]',
    ])
    expect(await check('{ baseline_model: ekko }')).to.deep.equal([
      1,
      'no model named "ekko"; did you mean "echo"? [unknown-model]',
    ])
    const key = '{ name: dev, key: dev-key-000001, models: [auto, FAST] }'
    await here.write('config/sluice.yaml', `${configuration}\napi_keys: [${key}]\n`)
    expect((await here.run('check')).out[0]).to.include(
      'warning: it holds virtual models only, so the key can use no model [routing]',
    )
    await here.remove()
  })
})
