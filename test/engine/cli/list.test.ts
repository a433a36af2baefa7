import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { sandbox } from './sandbox.ts'
import type { Sandbox } from './sandbox.ts'

const stage = `export default {
  kind: 'stage',
  name: 'greet',
  summary: 'Say hello.',
  config: {
    type: 'object', additionalProperties: false, required: ['whom'],
    properties: {
      whom: { type: 'string', description: 'Who is greeted | thanked.' },
      times: { type: 'integer', minimum: 1, maximum: 9, default: 2, description: 'How often.' },
      pauses: { type: 'object', additionalProperties: false, description: 'Pauses.', properties: {
        between: { type: 'string', pattern: '^\\\\d+(ms|s|m|h|d)$', default: '1s', description: 'Between greetings.' },
      } },
    },
  },
  needs: ['ingress'], reads: ['principal'], provides: ['reply'],
  build: () => () => ({}),
}
`

const cache = `export default {
  kind: 'stage', name: 'greet-again', stability: 'stable', summary: 'Say hello as before.',
  config: { type: 'object', additionalProperties: false },
  needs: ['ingress'], provides: [], gives: ['reply'], build: () => () => ({}),
}
`

/** A plugin that says it of its parts; one of them says something else. */
const both = `const part = (name, more) => ({
  kind: 'stage', name, summary: 'Do nothing.', ...more,
  config: { type: 'object', additionalProperties: false }, needs: [], provides: [], build: () => () => ({}),
})
export default {
  kind: 'plugin', name: 'both', summary: 'Two stages.', stability: 'stable',
  stages: [part('sound', {}), part('early', { stability: 'beta' })],
}
`

describe('cli/list', () => {
  let here: Sandbox
  before(async () => {
    here = await sandbox({
      'config/sluice.yaml': 'plugins: [./greetings]\n',
      'greetings/greet.ts': stage,
      'greetings/again.ts': cache,
      'greetings/both.ts': both,
    })
  })
  after(() => here.remove())

  it('prints one line each, of the shipped ones too', async () => {
    const { status, out, error } = await here.run('list', 'stages')
    expect({ status, error }).to.deep.equal({ status: 0, error: [] })
    expect(out[0]).to.equal('stages')
    expect(out.join('\n')).to.match(/^ {2}greet +Say hello\.$/m)
    expect(out.join('\n')).to.match(/^ {2}auth +Authenticate the client, or reject the request\.$/m)
  })

  it('prints every kind', async () => {
    const { out } = await here.run('list')
    expect(out.filter((line) => /^\w/.test(line))).to.deep.equal([
      'stages',
      'actions',
      'slots',
      'codecs',
      'providers',
      'signals',
      'guards',
      'services',
      'records',
      'plugins',
      'errors',
    ])
    const listed = JSON.parse((await here.run('list', '--json')).out.join('\n')) as Record<string, object[]>
    expect(Object.keys(listed)).to.deep.equal([
      'stages',
      'actions',
      'slots',
      'codecs',
      'providers',
      'signals',
      'guards',
      'services',
      'records',
      'plugins',
      'errors',
    ])
    expect(listed['stages']).to.deep.include({ name: 'greet', summary: 'Say hello.', stability: 'beta' })
    expect(listed['stages']).to.deep.include({
      name: 'greet-again',
      summary: 'Say hello as before.',
      stability: 'stable',
    })
    for (const [name, stability] of Object.entries({ sound: 'stable', early: 'beta' }))
      expect(listed['stages']).to.deep.include({ name, summary: 'Do nothing.', stability })
    expect(listed['slots']).to.deep.include({ name: 'principal', summary: 'The authenticated client.' })
    expect(listed['errors']).to.deep.include({
      name: 'breaker_open',
      summary: 'The provider of "{model}" fails too often to be asked now.',
      from: 'resilience',
      status: 503,
      type: 'server_error',
      retry: 'other',
    })
    expect(listed['actions']).to.deep.include({
      name: 'list-audit',
      summary: 'Answer a page of the audit trail: who changed what.',
      stability: 'stable',
      route: 'GET /api/logs/audit',
      access: 'admin',
    })
    expect(listed['providers']?.map((provider) => 'name' in provider && provider.name)).to.include('echo')
  })

  it('tells of an action its route, who may run it, its query and its answer', async () => {
    const { status, out } = await here.run('list', 'actions', 'list-audit')
    expect(status).to.equal(0)
    const text = out.join('\n')
    for (const line of [/route +GET \/api\/logs\/audit$/m, /access +admin$/m, /answers +data, next_cursor$/m])
      expect(text).to.match(line)
    expect(text).to.match(/^ *\?actor +text/m)
    expect((await here.run('list', 'actions', 'list-audits')).error.join()).to.include('did you mean "list-audit"?')
  })

  it('tells what a stage gives always, and what only sometimes', async () => {
    const stages = (await here.run('list', 'stages', 'greet-again')).out.map((line) => line.trim())
    expect(stages).to.include('may give   reply').and.not.include('gives')
    const slots = (await here.run('list', 'slots', 'reply')).out.join('\n')
    expect(slots)
      .to.match(/given by +.*greet/)
      .and.match(/sometimes given by +greet-again/)
  })

  it('describes one', async () => {
    const { status, out } = await here.run('list', 'stages', 'greet')
    expect(status).to.equal(0)
    expect(out).to.deep.equal([
      'greet',
      '  Say hello.',
      '',
      '  stability  beta',
      '  needs      ingress',
      '  reads      principal',
      '  gives      reply',
      '',
      'fields',
      '  whom            text; required',
      '                  Who is greeted | thanked.',
      '  times           whole number, 1 to 9; default 2',
      '                  How often.',
      '  pauses          map',
      '                  Pauses.',
      '  pauses.between  duration; default 1s',
      '                  Between greetings.',
      '',
      'example',
      '  - greet:',
      '      whom: my-whom',
      '      times: 2',
    ])
  })

  it('suggests the one that was meant', async () => {
    const { status, error } = await here.run('list', 'stages', 'gret')
    expect(status).to.equal(2)
    expect(error).to.deep.equal(['sluice: there is no "gret" among the stages; did you mean "greet"?'])
  })

  it('prints the reference', async () => {
    const { out } = await here.run('list', 'stages', '--markdown')
    expect(out).to.include('## greet')
    expect(out).to.include('| `whom` | text | required | Who is greeted \\| thanked. |')
    expect(out).to.include('| `pauses.between` | duration | `1s` | Between greetings. |')
  })

  it('writes the reference, and only what changed', async () => {
    const first = await here.run('list', '--markdown', '--out', 'reference')
    expect(first.status).to.equal(0)
    const pages = [
      'admin',
      'codecs',
      'commands',
      'errors',
      'guards',
      'pipelines',
      'plugins',
      'providers',
      'records',
      'services',
      'settings',
      'slots',
      'stages',
    ]
    expect((await readdir(join(here.folder, 'reference'))).sort()).to.deep.equal(pages.map((name) => `${name}.md`))
    expect(first.out.every((line) => line.endsWith('written'))).to.equal(true)
    const again = await here.run('list', '--markdown', '--out', 'reference')
    expect(again.out.every((line) => line.endsWith('unchanged'))).to.equal(true)
    expect(await readFile(join(here.folder, 'reference/commands.md'), 'utf8')).to.contain('## sluice key create')
  })

  it('answers 1 when a plugin cannot be loaded', async () => {
    await here.write('broken.yaml', 'plugins: [./nowhere]\n')
    const { status, error } = await here.run('list', '--config', 'broken.yaml')
    expect(status).to.equal(1)
    expect(error[0]).to.equal('broken.yaml:1:11: there is no file or folder "./nowhere" [plugin]')
  })
})
