import { basename, dirname } from 'node:path'
import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { sandbox } from '../engine/cli/sandbox.ts'
import { startAdmin } from '../support/admin.ts'
import type { AdminGateway } from '../support/admin.ts'
import { bothTypes } from '../support/mcp.ts'
import { program } from './program.ts'

const node = process.execPath
const at = '/api/mcp/servers'
const allowed = {
  command: node,
  arguments: [program, '--root=/srv/files/*', '*'],
  cwd: import.meta.dirname,
  environment: ['TOKEN'],
}
/** A server as the file allows it. */
const server = {
  name: 'tool',
  transport: 'stdio',
  command: node,
  arguments: [program, '--root=/srv/files/a b', 'word'],
  cwd: import.meta.dirname,
  environment: { TOKEN: 'its own token' },
}
const rooted = (root: string) => ({ arguments: [program, `--root=${root}`, 'word'] })
const worded = (word: string) => ({ arguments: [program, '--root=/srv/files/a', word] })
const setting = (name: string) => ({ environment: { TOKEN: 't', [name]: '--import=data:text/javascript,0' } })

const loaders = [
  'NODE_OPTIONS',
  'node_options',
  'NODE_PATH',
  'LD_PRELOAD',
  'LD_AUDIT',
  'DYLD_INSERT_LIBRARIES',
  'PATH',
  'Path',
  'BASH_ENV',
  'ENV',
  'PYTHONPATH',
  'PYTHONSTARTUP',
  'PERL5OPT',
  'PERL5LIB',
  'RUBYOPT',
  'JAVA_TOOL_OPTIONS',
  '_JAVA_OPTIONS',
  'GIT_SSH_COMMAND',
  'GIT_EXTERNAL_DIFF',
  'npm_config_script_shell',
  'OPENSSL_CONF',
  'GCONV_PATH',
  'DOTNET_STARTUP_HOOKS',
  'GLIBC_TUNABLES',
  'PAGER',
  'SSH_ASKPASS',
]

describe('mcp/allowed-programs', function () {
  this.timeout(300_000)
  let gateway: AdminGateway

  before(async () => {
    gateway = await startAdmin({ records: { mcp: { allow_stdio: [allowed, '/bin/echo', basename(node)] } } })
  })
  after(() => gateway?.close())
  afterEach(() => gateway.asAdmin(`DELETE ${at}/tool`))

  const refusal = async (change: object) => {
    const { status, code, param } = await gateway.asAdmin(`POST ${at}`, { ...server, ...change })
    return `${status} ${String(code)} ${String(param)}`
  }

  it('run as they are listed, with what a record may choose', async () => {
    const made = await gateway.asAdmin(`POST ${at}`, server)
    expect(made.status, JSON.stringify(made.body)).to.equal(201)
    const facts = await factsOf(gateway, 'tool')
    expect(facts).to.deep.include({
      arguments: server.arguments.slice(1),
      cwd: server.cwd,
      environment: { PATH: process.env['PATH'], TOKEN: 'its own token' },
    })
  })

  const refused: readonly [change: object, param: string][] = [
    [{ command: '/bin/sh' }, 'command'],
    [{ command: `${dirname(node)}/../${basename(dirname(node))}/${basename(node)}` }, 'command'],
    [{ command: `./${basename(node)}` }, 'command'],
    [{ arguments: [] }, 'arguments'],
    [{ arguments: server.arguments.slice(0, 2) }, 'arguments'],
    [{ arguments: [...server.arguments, '--eval'] }, 'arguments[3]'],
    [{ arguments: ['--eval', ...server.arguments.slice(1)] }, 'arguments[0]'],
    [rooted('/srv/other'), 'arguments[1]'],
    [rooted('/srv/files/'), 'arguments[1]'],
    [rooted('/srv/files/../../etc'), 'arguments[1]'],
    [rooted('/srv/files/a/..'), 'arguments[1]'],
    [rooted('/srv/files/%2e%2E/b'), 'arguments[1]'],
    [worded('--eval=0'), 'arguments[2]'],
    [worded('-e'), 'arguments[2]'],
    [worded('../x'), 'arguments[2]'],
    [{ cwd: '/' }, 'cwd'],
    [{ cwd: null }, 'cwd'],
    [setting('OTHER'), 'environment.OTHER'],
    ...loaders.map((name): [object, string] => [setting(name), `environment.${name}`]),
  ]
  for (const [change, param] of refused)
    it(`are refused otherwise: ${JSON.stringify(change).replaceAll(program, 'program').slice(0, 90)}`, async () => {
      expect(await refusal(change)).to.equal(`403 stdio_not_allowed ${param}`)
    })

  it('are refused when a record is changed to what is not listed', async () => {
    expect((await gateway.asAdmin(`POST ${at}`, server)).status).to.equal(201)
    const { environment } = server
    for (const change of [setting('NODE_OPTIONS'), { cwd: '/', environment }, { ...worded('-e'), environment }])
      expect(await gateway.asAdmin(`PATCH ${at}/tool`, change)).to.include({ status: 403, code: 'stdio_not_allowed' })
    expect((await factsOf(gateway, 'tool'))['environment']).to.not.have.property('NODE_OPTIONS')
  })

  it('that are listed by their command alone get no arguments, no folder and no variables', async () => {
    const bare = { name: 'tool', transport: 'stdio', command: '/bin/echo' }
    const answer = async (change: object) => {
      const { status, param } = await gateway.asAdmin(`POST ${at}`, { ...bare, ...change })
      return `${status} ${String(param)}`
    }
    expect(await answer({ arguments: ['a'] })).to.equal('403 arguments[0]')
    expect(await answer({ cwd: '/' })).to.equal('403 cwd')
    expect(await answer({ environment: { TOKEN: 'a' } })).to.equal('403 environment.TOKEN')
    expect(await answer({})).to.equal('201 undefined')
  })

  it('are told in the file where they name a variable that decides what code runs', async () => {
    const here = await sandbox({})
    try {
      const entry = (more: object) => ({ command: '/bin/tool', ...more })
      const check = async (allow_stdio: readonly unknown[]) => {
        await here.write('config/sluice.yaml', JSON.stringify({ mcp: { allow_stdio } }))
        const { status, out, error } = await here.run('check')
        return { status, text: [...out, ...error].join('\n') }
      }
      for (const name of loaders) {
        const { status, text } = await check([entry({ environment: ['TOKEN', name] })])
        expect(status, text).to.equal(1)
        expect(text).to.include(`"${name}" decides what code runs`)
      }
      expect((await check([entry({ environment: ['TOKEN', 'NODE_ENV', 'RUST_LOG'] })])).status).to.equal(0)
      for (const wrong of ['./tool', 'a/b', entry({ cwd: 'here' }), entry({ arguments: 'a' }), entry({ shell: true })])
        expect((await check([wrong])).status, JSON.stringify(wrong)).to.equal(1)
      expect((await check(['no-such-program-anywhere'])).text).to.include(
        'PATH has no program "no-such-program-anywhere"',
      )
    } finally {
      await here.remove()
    }
  })
})

let keys = 0

/** What the program of a server says of itself, to a key that may use it. */
async function factsOf(gateway: AdminGateway, name: string): Promise<JsonObject> {
  const made = await gateway.asAdmin('POST /api/api-keys', { name: `key-${++keys}`, mcp_servers: [name] })
  expect(made.status, JSON.stringify(made.body)).to.equal(201)
  const { key } = made.body as { readonly key: string }
  const ask = (message: object, session?: string) =>
    fetch(`${gateway.url}/servers/${name}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        accept: bothTypes,
        'content-type': 'application/json',
        ...(session === undefined ? {} : { 'mcp-session-id': session }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
    })
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
  const opened = await ask({ method: 'initialize', params })
  expect(opened.status, await opened.text()).to.equal(200)
  const session = opened.headers.get('mcp-session-id') ?? ''
  const answer = await ask({ method: 'tools/call', params: { name: 'facts', arguments: {} } }, session)
  const [, data = '{}'] = /data: (\{.*\})/.exec(await answer.text()) ?? []
  const { result } = JSON.parse(data) as { readonly result: { readonly content: readonly { text: string }[] } }
  return JSON.parse(result.content[0]?.text ?? '{}') as JsonObject
}
