import { expect } from 'chai'
import { sandbox } from './sandbox.ts'
import type { Sandbox } from './sandbox.ts'

describe('cli/explain', () => {
  let here: Sandbox
  before(async () => {
    here = await sandbox({
      'pipelines/hello.yaml':
        'name: hello\nsummary: Says who is there.\nroutes: [GET /hello]\nstages:\n  - auth\n  - list-models\n',
    })
  })
  after(() => here.remove())

  it('prints the plan of a pipeline', async () => {
    const { status, out } = await here.run('explain', 'hello')
    expect(status).to.equal(0)
    expect(out).to.deep.equal([
      'hello                            pipelines/hello.yaml:1:1',
      '  Says who is there.',
      '  GET /hello',
      'stages',
      '  auth                           pipelines/hello.yaml:5:5  within 1m',
      '    needs ingress',
      '    gives principal',
      '    with: key  (default)',
      '  list-models                    pipelines/hello.yaml:6:5  within 1m',
      '    needs ingress, principal',
      '    gives reply',
    ])
  })

  it('prints it as JSON', async () => {
    const { out } = await here.run('explain', 'hello', '--json')
    const { plan, ...rest } = JSON.parse(out.join('\n')) as { plan: { name: string; line: number }[] }
    expect(rest).to.deep.equal({
      name: 'hello',
      summary: 'Says who is there.',
      routes: ['GET /hello'],
      public: false,
      inputs: [],
      finally: [],
    })
    expect(plan.map(({ name, line }) => [name, line])).to.deep.equal([
      ['auth', 5],
      ['list-models', 6],
    ])
    expect(plan[0]).to.deep.equal({
      kind: 'stage',
      name: 'auth',
      path: 'auth',
      file: 'pipelines/hello.yaml',
      line: 5,
      column: 5,
      timeout: '1m',
      needs: ['ingress'],
      reads: [],
      provides: ['principal'],
      options: [{ name: 'with', value: 'key', from: 'default' }],
    })
  })

  it('tells where each value comes from: the pipeline, the settings, or their defaults', async () => {
    const settings = 'server_config: { resilience: { retries: { tries: 5 }, timeouts: { idle: 2m } } }\n'
    await here.write('patient.yaml', `providers: []\nmodels: []\n${settings}`)
    const plan = async (name: string) => (await here.run('explain', name, '--config', 'patient.yaml')).out
    expect(await plan('generate')).to.include.members([
      '    over: candidates',
      '    tries: 5  (settings)',
      '    on: ["connect","timeout","invalid","guard","429","5xx"]  (default)',
      '    wait: 200ms  (default)',
      '      first_byte: 10m  (default)',
      '      idle: 2m  (settings)',
    ])
    const tries = (await plan('count-tokens')).filter((line) => line.includes('tries:'))
    expect(tries.map((line) => line.trim())).to.deep.equal(['tries: 1'])
  })

  it('suggests the pipeline that was meant', async () => {
    const { status, error } = await here.run('explain', 'helo')
    expect(status).to.equal(2)
    expect(error[0]).to.equal('sluice: there is no pipeline "helo"; did you mean "hello"?')
    expect(error[1]).to.match(/^pipelines: .*\bhello\b/)
  })

  it('explains no pipeline of a configuration that is wrong', async () => {
    await here.write('wrong.yaml', 'providers: 1\n')
    const { status, out, error } = await here.run('explain', 'hello', '--config', 'wrong.yaml')
    expect(status).to.equal(1)
    expect(out).to.deep.equal([])
    expect(error.join('\n')).to.contain('wrong.yaml:1:12: must be an array [type]')
  })

  it('explains the code of an error', async () => {
    const { status, out } = await here.run('explain', 'code', 'upstream_timeout')
    expect(status).to.equal(0)
    expect(out.slice(0, 5)).to.deep.equal([
      'upstream_timeout',
      '  status   504',
      '  type     server_error',
      '  retry    other: another provider may serve it',
      '  message  The provider of "{model}" did not answer in time.',
    ])
  })

  it('explains the code of a finding', async () => {
    const { status, out } = await here.run('explain', 'code', 'no-reply', '--json')
    expect(status).to.equal(0)
    expect(JSON.parse(out.join('\n'))).to.deep.equal({
      code: 'no-reply',
      meaning: 'A path through the pipeline ends without a reply.',
    })
  })

  it('suggests the code that was meant', async () => {
    const { status, error } = await here.run('explain', 'code', 'no-replay')
    expect(status).to.equal(2)
    expect(error).to.deep.equal(['sluice: there is no code "no-replay"; did you mean "no-reply"?'])
  })
})
