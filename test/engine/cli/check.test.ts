import { expect } from 'chai'
import { configuration, sandbox } from './sandbox.ts'
import type { Sandbox } from './sandbox.ts'

const good = `name: hello
summary: Says who is there.
routes: [GET /hello]
stages:
  - auth: { with: key }
  - list-models
`
const bad = `name: bad
summary: Cannot work.
routes: [GET /bad]
stages:
  - auth: { wiht: key }
  - lits-models
  - resolve
`

describe('cli/check', () => {
  let here: Sandbox
  beforeEach(async () => {
    here = await sandbox({ 'pipelines/hello.yaml': good })
  })
  afterEach(() => here.remove())

  it('says what it looked at when nothing is wrong', async () => {
    const { status, out, error } = await here.run('check')
    expect(status).to.equal(0)
    expect(out).to.have.length(1)
    expect(out[0]).to.match(/^\d+ pipelines, \d+ stages, \d+ codecs, \d+ provider types: nothing wrong$/)
    expect(error).to.deep.equal([])
  })

  it('names the providers that are off', async () => {
    await here.write(
      'config/sluice.yaml',
      configuration.replace(
        '}]',
        '}, { name: far, type: native, base_url: http://127.0.0.1:1/v1, api_key: "${FAR_KEY}" }]',
      ),
    )
    const { status, out } = await here.run('check')
    expect(status).to.equal(0)
    expect(out[0]).to.equal('provider "far" is off: FAR_KEY is not set')
  })

  it('takes an empty configuration for one that leaves all as it is', async () => {
    for (const text of ['', '# nothing yet\n', '{}\n']) {
      await here.write('config/sluice.yaml', text)
      const { status, out } = await here.run('check')
      expect(out, JSON.stringify(text)).to.have.length(1)
      expect(status).to.equal(0)
    }
  })

  it('tells warnings and answers 0', async () => {
    const models = 'models: [{ name: echo, provider: echo, fallbacks: [b, c, d] }, { name: b, provider: echo }, '
    const more = '{ name: c, provider: echo }, { name: d, provider: echo, quality_tier: preium }]\n'
    await here.write('config/sluice.yaml', configuration.replace(/models:.*\n/, models + more))
    const { status, out } = await here.run('check')
    expect(status).to.equal(0)
    expect(out.slice(0, 2)).to.deep.equal([
      'config/sluice.yaml:3:58: warning: "d" is never asked: "echo" and its fallbacks get 3 tries in all [tries]',
      'config/sluice.yaml:3:163: warning: "preium" counts as economy; did you mean "premium"? [quality-tier]',
    ])
    expect(out[2]).to.match(/: nothing wrong$/)
    const json = await here.run('check', '--json')
    expect(json.status).to.equal(0)
    expect(JSON.parse(json.out.join('\n'))).to.have.length(2)
    const strict = await here.run('check', '--strict')
    expect([strict.status, strict.out]).to.deep.equal([1, out.slice(0, 2)])
    await here.write('config/sluice.yaml', configuration)
    expect((await here.run('check', '--strict')).status).to.equal(0)
  })

  it('warns of a model whose record lacks what its protocol has to know', async () => {
    const provider = '}, { name: far, type: messages, base_url: "http://127.0.0.1:1", api_key: some-key }]'
    const far = (fields: string) =>
      configuration.replace('}]', provider).replace(/models: \[/, `models: [{ name: large, provider: far${fields} }, `)
    await here.write('config/sluice.yaml', far(''))
    const { status, out } = await here.run('check')
    expect(status).to.equal(0)
    expect(out[0]).to.match(
      /^config\/sluice\.yaml:\d+:\d+: warning: the model names no max_output_tokens: an answer may have 32000 tokens /,
    )
    await here.write('config/sluice.yaml', far(', max_output_tokens: 64000'))
    expect((await here.run('check')).out).to.have.length(1)
  })

  it('finds an address that is the one of a route, and fixtures that cannot be run', async () => {
    await here.write(
      'config/sluice.yaml',
      configuration.replace(
        '}]',
        '}, { name: far, type: native, base_url: "http://127.0.0.1:1/v1/chat/completions", api_key: some-key }]',
      ),
    )
    const { status, out } = await here.run('check')
    expect(status).to.equal(1)
    expect(out).to.deep.equal([
      'config/sluice.yaml:2:78: the provider "far" cannot be opened: base_url must be what comes before ' +
        '"/chat/completions"; where one operation lives elsewhere, say so in endpoint_base_urls [open]',
    ])
    await here.write('config/sluice.yaml', configuration)
    await here.write(
      'pipelines/hello.test.yaml',
      'pipeline: helo\ntests: [{ name: a, request: {}, expect: { asked: [] } }]\n',
    )
    const fixtures = await here.run('check')
    expect(fixtures.status).to.equal(1)
    expect(fixtures.out).to.deep.equal([
      'pipelines/hello.test.yaml:1:11: no pipeline named "helo"; did you mean "hello"? [fixture]',
    ])
  })

  it('prints every finding with its place and answers 1', async () => {
    await here.write('pipelines/bad.yaml', bad)
    await here.write('config/sluice.yaml', `${configuration}modles: []\n`)
    const { status, out } = await here.run('check')
    expect(status).to.equal(1)
    expect(out).to.deep.equal([
      'config/sluice.yaml:4:1: unknown field "modles"; did you mean "models"? [additionalProperties]',
      'pipelines/bad.yaml:5:13: unknown field "wiht"; did you mean "with"? [additionalProperties]',
      'pipelines/bad.yaml:6:5: no stage named "lits-models"; did you mean "list-models"? [unknown-stage]',
    ])
  })

  it('finds what only building a stage shows', async () => {
    await here.write(
      'pipelines/parse.yaml',
      'name: x\nsummary: x\nroutes: [POST /x]\nstages: [auth, parse, list-models]\n',
    )
    const { status, out } = await here.run('check')
    expect(status).to.equal(1)
    expect(out).to.deep.equal([
      'pipelines/parse.yaml:4:16: "parse" cannot be built: pipeline "x" uses "parse" and says no protocol [build]',
    ])
  })

  it('finds endpoints for members while no service signs members in, not even in the place of the shipped one', async () => {
    const member = (how: string) =>
      `name: ${how}\nsummary: x\nroutes: [POST /${how}]\nstages:\n  - auth: { with: ${how} }\n  - list-models\n`
    for (const how of ['key', 'session', 'either']) await here.write(`pipelines/${how}.yaml`, member(how))
    const door = (uses: string) => `import { defineService } from 'sluice'
export default defineService({ name: 'member_sessions', summary: 'Signs in.', uses: [${uses}],
  open: () => ({ configure: () => ({ view: {} }) }) })
`
    const missing = 'nobody can sign in: no plugin brings a service that uses "sessions" and says who holds one [stage]'
    await here.write('plugins/door.ts', door("'api_keys'"))
    const { status, out } = await here.run('check')
    expect(status).to.equal(1)
    const own = out.filter((line) => line.startsWith('pipelines/'))
    expect(own).to.deep.equal([`pipelines/either.yaml:5:19: ${missing}`, `pipelines/session.yaml:5:19: ${missing}`])
    for (const line of out) expect(line.slice(-missing.length)).to.equal(missing)
    await here.write('plugins/door.ts', door("'sessions'"))
    expect((await here.run('check')).status).to.equal(0)
    // Who signs members in may be among what cannot be loaded.
    await here.write('plugins/door.ts', 'export default 7\n')
    expect((await here.run('check')).out.join('\n'))
      .to.contain('plugins/door.ts')
      .and.not.contain('sign in')
  })

  it('prints findings as JSON', async () => {
    await here.write('pipelines/bad.yaml', 'name: bad\nsummary: x\nstages: [nothing]\n')
    const { status, out } = await here.run('check', '--json')
    expect(status).to.equal(1)
    expect(JSON.parse(out.join('\n'))).to.deep.equal([
      { file: 'pipelines/bad.yaml', line: 3, column: 10, code: 'unknown-stage', message: 'no stage named "nothing"' },
    ])
    expect((await here.run('check', 'pipelines/hello.yaml', '--json')).out).to.deep.equal(['[]'])
  })

  it('checks a pipeline file alone, among the others', async () => {
    await here.write('pipelines/bad.yaml', bad)
    await here.write('elsewhere/more.yaml', 'name: more\nsummary: x\nroutes: [GET /hello]\nstages: [{ use: hello }]\n')
    expect(await here.run('check', 'pipelines/hello.yaml')).to.deep.equal({
      status: 0,
      out: ['1 file: nothing wrong'],
      error: [],
    })
    const { status, out } = await here.run('check', 'elsewhere/more.yaml')
    expect(status).to.equal(1)
    expect(out).to.deep.equal([
      'elsewhere/more.yaml:3:10: the route "GET /hello" is already there: pipelines/hello.yaml:3:10 [duplicate]',
    ])
  })

  it('checks a configuration file with the loaded plugins', async () => {
    await here.write('other.yaml', 'providers:\n  - { name: x, type: ehco }\n')
    expect((await here.run('check', 'other.yaml')).out).to.deep.equal([
      'other.yaml:2:22: no provider type "ehco"; did you mean "echo"? [unknown-provider-type]',
    ])
  })

  it('checks a fixture', async () => {
    await here.write('hello.test.yaml', 'pipeline: hello\ntests:\n  - { name: works, expects: {} }\n')
    expect((await here.run('check', 'hello.test.yaml')).out).to.deep.equal([
      'hello.test.yaml:3:5: "expect" is missing [required]',
      'hello.test.yaml:3:20: unknown field "expects"; did you mean "expect"? [additionalProperties]',
    ])
  })

  it('checks the YAML blocks of Markdown that are ours, with lines of the Markdown', async () => {
    const page = [
      '# Page',
      '```yaml',
      'anything: { else: true }',
      '```',
      '- a pipeline that is there already:',
      '  ```yaml',
      '  name: hello',
      '  summary: Again.',
      '  routes: [GET /hello]',
      '  stages:',
      '    - auth',
      '    - lits-models',
      '  ```',
      '~~~yml title="settings"',
      'listen: { prot: 80 }',
      '~~~',
      '```json',
      '{ "listen": 1 }',
      '```',
      '````yaml',
      'stages: [',
      '````',
    ]
    await here.write('page.md', page.join('\n'))
    const { status, out } = await here.run('check', 'page.md')
    expect(status).to.equal(1)
    expect(out.slice(0, 2)).to.deep.equal([
      'page.md:12:7: no stage named "lits-models"; did you mean "list-models"? [unknown-stage]',
      'page.md:15:11: unknown field "prot"; did you mean "port"? [additionalProperties]',
    ])
    expect(out[2]).to.match(/^page\.md:2[12]:\d+: .* \[yaml\]$/)
    expect(out).to.have.length(3)
  })

  it('answers 2 when a file is not there', async () => {
    expect(await here.run('check', 'no.yaml')).to.deep.equal({
      status: 2,
      out: [],
      error: ['sluice: no.yaml cannot be read: ENOENT'],
    })
  })
})
