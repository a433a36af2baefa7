import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { expect } from 'chai'
import { isSection } from '../../../plugins/import/litellm.ts'
import { root, sandbox } from '../../engine/cli/sandbox.ts'
import type { Sandbox } from '../../engine/cli/sandbox.ts'
import { answerOf, goldenOf, requireGolden, silentLeaves, startImported, written } from './imported.ts'
import type { ShownReport } from './imported.ts'

const samples = join(root, 'test', 'import', 'litellm')
const names = readdirSync(samples)
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => basename(name, '.yaml'))
/** Samples that lose nothing. */
const whole = ['first-steps', 'replicas']
/** Samples whose models are asked, each once. */
const asked = [
  'many-vendors',
  'clear-text',
  'azure',
  'bedrock',
  'local-servers',
  'fallbacks',
  'includes',
  'credentials',
]

describe('plugins/import: litellm', () => {
  let here: Sandbox
  beforeEach(async () => {
    here = await sandbox()
  })
  afterEach(() => here.remove())

  const file = (name: string) => join(samples, `${name}.yaml`)
  const imported = async (name: string, ...words: string[]) => {
    const { status, out, error } = await here.run('import', 'litellm', file(name), '--out', 'new', '--json', ...words)
    return { status, error, report: JSON.parse(out.join('\n')) as ShownReport, text: [...out, ...error].join('\n') }
  }
  const folder = () => join(here.folder, 'new')

  it('has samples of what LiteLLM documents', () => {
    expect(names.length).to.be.at.least(20)
  })

  for (const name of names)
    it(`imports ${name}: nothing is silent, the result is right, and no secret is told`, async () => {
      const { report, status, error, text } = await imported(name)
      expect(error).to.deep.equal([])
      const { lost } = report.counts
      expect(status).to.equal(lost > 0 ? 3 : 0)
      for (const given of new Set(report.items.map((item) => item.file)))
        expect(silentLeaves(given, await readFile(join(here.folder, given), 'utf8'), report, isSection)).to.deep.equal(
          [],
        )
      const shown = {
        ...report,
        items: report.items.map((item) => ({ ...item, file: relative(relative(here.folder, samples), item.file) })),
      }
      const golden = (await goldenOf(folder(), shown))
        .replaceAll(`${relative(here.folder, samples)}/`, '')
        .replaceAll(`${samples}/`, '')
      await requireGolden(join(samples, `${name}.expected.txt`), golden)
      const there = await readFile(join(folder(), 'config/sluice.yaml'), 'utf8')
      const markdown = await readFile(join(folder(), 'import-report.md'), 'utf8')
      for (const place of [there, markdown, text]) expect(place).to.not.match(/canary|pa\$\$word|sk-main-/)
      for (const item of report.items)
        if (['changed', 'lost'].includes(item.status))
          expect(markdown).to.include(`${item.file}:${item.line} ${item.path}: ${item.advice}`)
      // With no variable set, as `.env` is not read here.
      const checked = await here.run('--config', 'new/config/sluice.yaml', 'check')
      expect([checked.status, ...checked.error]).to.deep.equal([0])
    })

  for (const name of asked)
    it(`makes a gateway of ${name} that answers for every model`, async () => {
      await imported(name)
      const gateway = await startImported(folder())
      try {
        expect(gateway.models.length).to.be.above(0)
        for (const model of gateway.models) {
          const { status, text } = await gateway.ask(model)
          expect([model, status, text.includes('Good day')]).to.deep.equal([model, 200, true])
        }
      } finally {
        await gateway.close()
      }
    })

  it('asks providers as LiteLLM did: with the keys of .env, the names and the addresses', async () => {
    await imported('clear-text')
    const gateway = await startImported(folder())
    try {
      await gateway.ask('one')
      const { path, headers, body } = await gateway.upstream.received()
      expect(path).to.equal('/v1/chat/completions')
      expect(headers['openai-organization']).to.equal('org-abc')
      expect(headers.authorization).to.equal('Bearer sk-proj-canary-0001')
      expect((JSON.parse(body.toString()) as { model: string }).model).to.equal('gpt-4o')
      await gateway.ask('five')
      const { headers: others } = await gateway.upstream.received(2)
      expect(others['x-tenant']).to.equal('blue')
    } finally {
      await gateway.close()
    }
  })

  it('tries the fallbacks of a model', async () => {
    await imported('fallbacks')
    const gateway = await startImported(folder())
    try {
      gateway.upstream.answer((request) =>
        request.body.includes('"gpt-4.1"') ? { status: 503, body: {} } : answerOf(request),
      )
      const { status, text } = await gateway.ask('good-model')
      expect(status, text).to.equal(200)
      expect((JSON.parse(text) as { model: string }).model).to.equal('gpt-4.1-nano')
    } finally {
      await gateway.close()
    }
  })

  it('gives fallbacks of every model to one that is renamed, and takes it for no model of a pattern', async () => {
    const lines = [
      'model_list:',
      '  - { model_name: my model, litellm_params: { model: openai/gpt-4o } }',
      '  - { model_name: spare, litellm_params: { model: openai/gpt-4.1 } }',
      '  - { model_name: "*", litellm_params: { model: "groq/*" } }',
      'router_settings: { default_fallbacks: [spare], fallbacks: [{ spare: [my-model] }] }',
    ]
    await here.write('renamed.yaml', lines.join('\n'))
    await here.run('import', 'litellm', 'renamed.yaml', '--out', 'new')
    const text = await readFile(join(folder(), 'config/sluice.yaml'), 'utf8')
    expect(text).to.include('  - name: my-model\n    provider: openai\n    upstream_model: gpt-4o\n    fallbacks:\n')
    expect(text).to.not.include('upstream_model: my-model')
  })

  it('takes a timeout or a budget of zero for none, as LiteLLM does', async () => {
    const lines = [
      'model_list: [{ model_name: a, litellm_params: { model: openai/a, timeout: 0, stream_timeout: 0.0 } }]',
      'router_settings: { timeout: 0, stream_timeout: 0 }',
      'litellm_settings: { request_timeout: 0, max_budget: 0, budget_duration: 1d }',
      'mcp_servers: { one: { url: "https://mcp.example/mcp", transport: http, timeout: 0 } }',
    ]
    await here.write('zero.yaml', lines.join('\n'))
    const { status, out } = await here.run('import', 'litellm', 'zero.yaml', '--out', 'new', '--json')
    const { items } = JSON.parse(out.join('\n')) as ShownReport
    expect([status, items.filter((item) => item.status === 'default').length]).to.deep.equal([0, 8])
    const text = await readFile(join(folder(), 'config/sluice.yaml'), 'utf8')
    expect(text).to.not.match(/timeout|budget/)
  })

  it('tells of a time zone, in which budgets began anew', async () => {
    for (const [zone, became] of [
      ['UTC', 'default'],
      ['Asia/Kolkata', 'changed'],
      ['os.environ/ZONE', 'changed'],
    ] as const) {
      await here.write('zone.yaml', `litellm_settings: { timezone: ${zone} }`)
      const { status, out } = await here.run('import', 'litellm', 'zone.yaml', '--out', 'new', '--json', '--dry-run')
      const [item] = (JSON.parse(out.join('\n')) as ShownReport).items
      expect([status, item?.path, item?.status]).to.deep.equal([0, 'litellm_settings.timezone', became])
    }
  })

  it('writes the same bytes again, secrets for their owner alone, and replaces nothing without --force', async () => {
    await imported('clear-text')
    const all = () => [...written, 'import-report.md'].map((name) => readFileSync(join(folder(), name), 'utf8'))
    const first = all()
    expect(statSync(join(folder(), '.env')).mode & 0o777).to.equal(0o600)
    await writeFile(join(folder(), 'config/sluice.yaml'), '# mine\n')
    const refused = await here.run('import', 'litellm', file('clear-text'), '--out', 'new')
    expect(refused.status).to.equal(1)
    expect(refused.error.join('\n')).to.include('config/sluice.yaml would be replaced; nothing was written')
    expect(readFileSync(join(folder(), 'config/sluice.yaml'), 'utf8')).to.equal('# mine\n')
    const foreseen = await here.run('import', 'litellm', file('clear-text'), '--out', 'new', '--dry-run')
    expect([foreseen.status, foreseen.error]).to.deep.equal([1, refused.error])
    expect((await imported('clear-text', '--force')).status).to.equal(3)
    expect(all()).to.deep.equal(first)
  })

  it('takes the name of a model from the variable in which it stands, where that is set', async () => {
    const words = ['import', 'litellm', file('in-use'), '--out', 'new']
    const environment = { READER_MODEL: 'gemini/gemini-2.5-flash', FORGOTTEN_KEY: 'canary-0100' }
    expect((await here.run(words, environment)).status).to.equal(3)
    const there = await readFile(join(folder(), 'config/sluice.yaml'), 'utf8')
    expect(there).to.include('  - name: reader\n    provider: gemini\n    upstream_model: gemini-2.5-flash\n')
    expect(there).to.include('base_url: ${READER_BASE}')
    expect(there).to.not.include('canary')
    const gateway = await startImported(folder())
    try {
      expect((await gateway.ask('reader')).status).to.equal(200)
      expect((await gateway.upstream.received()).path).to.include('gemini-2.5-flash:generateContent')
    } finally {
      await gateway.close()
    }
  })

  it('never writes the value of a secret as the name of a model', async () => {
    await here.write(
      'named.yaml',
      'model_list: [{ model_name: a, litellm_params: { model: os.environ/OPENAI_API_KEY } }]',
    )
    const { status, out } = await here.run(['import', 'litellm', 'named.yaml', '--out', 'new', '--json'], {
      OPENAI_API_KEY: 'canary-0101',
    })
    expect(status).to.equal(3)
    expect(out.join('') + (await readFile(join(folder(), 'config/sluice.yaml'), 'utf8'))).to.not.include('canary')
  })

  it('tells models in variables that are named like a secret from those that are not', async () => {
    const entry = (variable: string) => `{ model_name: ${variable}, litellm_params: { model: os.environ/${variable} } }`
    const environment = {
      KEYWORD_MODEL: 'openai/gpt-4o-mini',
      AUTHOR_MODEL: 'fireworks_ai/accounts/fireworks/models/qwen2p5-coder-32b-instruct',
      TOKENIZER: 'bedrock/anthropic.claude-3-5-sonnet-20240620-v1:0',
      MODEL_AUTH: 'openai/canary-0102',
      FIRST_MODEL: 'openai/sk-canary-0103',
      SECOND_MODEL: 'https://user:canary-0104@models.example/v1',
      THIRD_MODEL: 'openai/QmCanary0105XyZwVu9876',
    }
    await here.write('named.yaml', `model_list: [${Object.keys(environment).map(entry).join(', ')}]`)
    const { out } = await here.run(['import', 'litellm', 'named.yaml', '--out', 'new', '--json'], environment)
    const text = await readFile(join(folder(), 'config/sluice.yaml'), 'utf8')
    for (const model of ['gpt-4o-mini', 'qwen2p5-coder-32b-instruct', 'claude-3-5-sonnet-20240620-v1:0'])
      expect(text).to.include(model)
    const report = await readFile(join(folder(), 'import-report.md'), 'utf8')
    expect(text + report + out.join('')).to.not.match(/canary/i)
    const lost = (JSON.parse(out.join('\n')) as ShownReport).items.filter(({ status }) => status === 'lost')
    expect(lost.map(({ advice }) => advice)).to.deep.equal([
      'the name of its model stands in MODEL_AUTH, which is named like a secret; write the name there',
      ...['FIRST_MODEL', 'SECOND_MODEL', 'THIRD_MODEL'].map(
        (name) => `the name of its model stands in ${name}, whose value looks like a secret; write the name there`,
      ),
    ])
  })

  it('takes every secret that is written as a variable of a shell for that variable', async () => {
    const lines = [
      'environment_variables: { PASSED_KEY: "${PASSED_KEY}" }',
      'model_list:',
      '  - { model_name: a, litellm_params: { model: openai/a, api_key: "${FIRST_KEY:-sk-none}" } }',
      '  - { model_name: b, litellm_params: { model: openai/b, api_key: "sk-${SUFFIX}" } }',
      '  - { model_name: c, litellm_params: { model: openai/c, api_key: "${SLUICE_SECRET}" } }',
      '  - model_name: d',
      '    litellm_params:',
      '      model: bedrock/anthropic.claude-v2',
      '      aws_region_name: us-east-1',
      '      aws_access_key_id: "${ACCESS_ID}"',
      '      aws_secret_access_key: "${ACCESS_SECRET}"',
      '      aws_session_token: "${SESSION?must be set}"',
      '      extra_headers: { x-api-key: "${HEADER_KEY}" }',
      'mcp_servers:',
      '  one: { url: "https://mcp.example/mcp", auth_type: bearer_token, auth_value: "${MCP_TOKEN}" }',
      '  two: { url: "https://mcp.example/two", auth_type: basic, auth_value: "${MCP_BASIC}" }',
      'general_settings: { master_key: "${MASTER_KEY}" }',
    ]
    await here.write('shell.yaml', lines.join('\n'))
    const words = ['import', 'litellm', 'shell.yaml', '--out', 'new', '--master-key-as-key', '--json']
    const { out, error } = await here.run(...words)
    expect(error).to.deep.equal([])
    const text = await readFile(join(folder(), 'config/sluice.yaml'), 'utf8')
    for (const line of [
      'api_key: ${FIRST_KEY}',
      'api_key: ${OPENAI_API_KEY}',
      'access_key_id: ${ACCESS_ID}',
      'secret_access_key: ${ACCESS_SECRET}',
      'session_token: ${SESSION}',
      'x-api-key: ${HEADER_KEY}',
      'authorization: Bearer ${MCP_TOKEN}',
      'key: ${MASTER_KEY}',
    ])
      expect(text).to.include(line)
    expect(text).to.not.match(/SLUICE_SECRET|sk-|\$\$|Basic/)
    // Nothing of it is the text of a secret.
    const environment = join(folder(), '.env')
    expect(existsSync(environment) ? readFileSync(environment, 'utf8') : '').to.not.match(/\$|PASSED|sk-/)
    const { items } = JSON.parse(out.join('\n')) as ShownReport
    const toldOf = (path: string) => {
      const { status, advice } = items.find((item) => item.path.endsWith(path)) ?? {}
      return [status, advice]
    }
    expect(toldOf('[0].litellm_params.api_key')).to.deep.equal(['changed', 'stands for a variable here: set FIRST_KEY'])
    expect(toldOf('[1].litellm_params.api_key')).to.deep.equal([
      'changed',
      'has a variable in it, which is not put in: set OPENAI_API_KEY',
    ])
    expect(toldOf('[2].litellm_params.api_key')).to.deep.equal([
      'changed',
      'stands for a variable of the gateway itself: set OPENAI_API_KEY',
    ])
    expect(toldOf('aws_secret_access_key')).to.deep.equal(['changed', 'stands for a variable here: set ACCESS_SECRET'])
    expect(toldOf('two.auth_value')[0]).to.equal('lost')
    expect(toldOf('PASSED_KEY')[0]).to.equal('changed')
    expect(toldOf('master_key')).to.deep.equal([
      'changed',
      'it is an API key that may use every model, and administers nothing: set MASTER_KEY',
    ])
  })

  it('keeps a name that is written as a variable of another program, and budgets beyond all measure', async () => {
    const lines = [
      'model_list:',
      '  - { model_name: "%NAME%", litellm_params: { model: $MODEL, api_key: sk-1, organization: $ORG } }',
      '  - { model_name: b, litellm_params: { model: "openai/{{ OTHER }}", api_key: sk-1 } }',
      'router_settings: { fallbacks: [{ b: ["%NAME%"] }] }',
      'litellm_settings: { max_budget: 1.0e+30 }',
      'general_settings: { max_parallel_requests: 10000000 }',
    ]
    await here.write('bare.yaml', lines.join('\n'))
    const { status, error, out } = await here.run('import', 'litellm', 'bare.yaml', '--out', 'new', '--json')
    expect([status, error]).to.deep.equal([3, []])
    const checked = await here.run('--config', 'new/config/sluice.yaml', 'check')
    expect([checked.status, ...checked.error]).to.deep.equal([0])
    expect(await readFile(join(folder(), '.env.example'), 'utf8')).to.equal('OPENAI_API_KEY=\n')
    const told = (JSON.parse(out.join('\n')) as ShownReport).items.find(({ path }) => path.endsWith('organization'))
    expect([told?.status, told?.advice]).to.deep.equal([
      'changed',
      'is taken as it is; where a variable is meant, write ${ORG}',
    ])
    const gateway = await startImported(folder())
    try {
      expect((await gateway.ask('%NAME%')).status).to.equal(200)
      const { headers, body } = await gateway.upstream.received()
      expect(headers['openai-organization']).to.equal('$ORG')
      expect((JSON.parse(body.toString()) as { model: string }).model).to.equal('$MODEL')
    } finally {
      await gateway.close()
    }
  })

  it('sends no variable of the gateway in place of a text, and no secret whose variable has its name', async () => {
    const model = (name: string, more: string) =>
      `  - { model_name: ${name}, litellm_params: { model: openai/${name}, api_key: sk-real, ${more} } }`
    const lines = [
      'model_list:',
      model('a', 'organization: $DATABASE_URL'),
      model('b', 'extra_headers: { x-note: "env:SLUICE_SECRET" }'),
      model('c', 'organization: $OPENAI_API_KEY'),
      model('d', 'organization: "{{ env.ORG }}"'),
      'environment_variables: { SLUICE_AS_TEXT: set }',
    ]
    await here.write('texts.yaml', lines.join('\n'))
    expect((await here.run('import', 'litellm', 'texts.yaml', '--out', 'new')).error).to.deep.equal([])
    expect(await readFile(join(folder(), '.env'), 'utf8')).to.equal('OPENAI_API_KEY_2=sk-real\n')
    const env = { SLUICE_SECRET: 'a-long-secret-of-the-test-0123456789abcdef', OPENAI_API_KEY: 'sk-other', ORG: 'org' }
    const gateway = await startImported(folder(), { env })
    try {
      const sent: unknown[] = []
      for (const name of ['a', 'b', 'c', 'd']) {
        expect((await gateway.ask(name)).status).to.equal(200)
        const headers = gateway.upstream.requests.at(-1)?.headers
        sent.push(headers?.['openai-organization'] ?? headers?.['x-note'])
      }
      expect(sent).to.deep.equal(['$DATABASE_URL', 'env:SLUICE_SECRET', '$OPENAI_API_KEY', '{{ env.ORG }}'])
    } finally {
      await gateway.close()
    }
  })

  it('makes no key of a master key that has a variable in it', async () => {
    await here.write('part.yaml', 'general_settings: { master_key: "sk-${MASTER_KEY}" }')
    const words = ['import', 'litellm', 'part.yaml', '--out', 'new', '--master-key-as-key', '--json']
    const { status, out } = await here.run(...words)
    expect(status).to.equal(3)
    expect((JSON.parse(out.join('\n')) as ShownReport).items[0]?.advice).to.equal(
      'it has a variable in it, which is not put in: make a key with "sluice key create"',
    )
    expect(await readFile(join(folder(), 'config/sluice.yaml'), 'utf8')).to.not.include('api_keys')
  })

  it('keeps .env for its owner alone, even one that has its values already', async () => {
    await imported('clear-text')
    await chmod(join(folder(), '.env'), 0o644)
    await imported('clear-text')
    expect(statSync(join(folder(), '.env')).mode & 0o777).to.equal(0o600)
  })

  it('keeps the other lines of .env, and the values that it has', async () => {
    await here.write('new/.env', '# mine\nOTHER=1\nSOME_TOKEN=different')
    const refused = await here.run('import', 'litellm', file('clear-text'), '--out', 'new')
    expect(refused.status).to.equal(1)
    expect(refused.error).to.deep.equal(['sluice: .env has other values of SOME_TOKEN; --force replaces them'])
    await imported('clear-text', '--force')
    const lines = readFileSync(join(folder(), '.env'), 'utf8').split('\n')
    expect(lines).to.include.members(['# mine', 'OTHER=1', 'SOME_TOKEN=canary-0011'])
    expect(lines).to.not.include('SOME_TOKEN=different')
  })

  it('replaces all lines of a value in .env, and leaves alone what looks like one within another', async () => {
    const [old, fresh] = ['one\\nOTHER=1\\ntwo', 'three\\nfour']
    const file = (value: string) => here.write('pem.yaml', `environment_variables: { PEM: "${value}" }`)
    await file(old)
    expect((await here.run('import', 'litellm', 'pem.yaml', '--out', 'new')).status).to.equal(0)
    const path = join(folder(), '.env')
    const before = readFileSync(path, 'utf8')
    expect(before).to.equal("PEM='one\nOTHER=1\ntwo'\n")
    await writeFile(path, `KEPT="a\nPEM=b"\n${before}# end\n`)
    await file(fresh)
    expect((await here.run('import', 'litellm', 'pem.yaml', '--out', 'new', '--force')).status).to.equal(0)
    expect(readFileSync(path, 'utf8')).to.equal(`KEPT="a\nPEM=b"\n# end\nPEM='three\nfour'\n`)
  })

  it('writes nothing with --dry-run, and reports the same', async () => {
    const { report, status } = await imported('clear-text', '--dry-run')
    expect(readdirSync(here.folder)).to.not.include('new')
    const real = await imported('clear-text')
    expect([report, status]).to.deep.equal([real.report, real.status])
  })

  it('answers 0 if nothing is lost, and with --strict 3 if something differs', async () => {
    for (const name of whole) {
      expect([name, (await imported(name, '--dry-run')).status]).to.deep.equal([name, 0])
      expect([name, (await imported(name, '--dry-run', '--strict')).status]).to.deep.equal([name, 3])
    }
  })

  it('makes a key of the master key only where it is asked to', async () => {
    await imported('clear-text', '--master-key-as-key')
    const text = await readFile(join(folder(), 'config/sluice.yaml'), 'utf8')
    expect(text).to.include('key: ${LITELLM_MASTER_KEY}')
    const gateway = await startImported(folder(), { withKey: false })
    try {
      expect((await gateway.ask('one', 'sk-canary-0009')).status).to.equal(200)
      expect((await gateway.ask('one', 'sk-other-1234567890')).status).to.equal(401)
    } finally {
      await gateway.close()
    }
  })

  it('makes no key of a master key that none can have', async () => {
    await here.write('short.yaml', 'general_settings: { master_key: short }')
    const words = ['import', 'litellm', 'short.yaml', '--out', 'new', '--master-key-as-key', '--json']
    const { status, out } = await here.run(...words)
    expect(status).to.equal(3)
    const [item] = (JSON.parse(out.join('\n')) as ShownReport).items
    expect([item?.status, item?.advice]).to.deep.equal([
      'lost',
      'an API key has 8 to 256 characters without spaces: make one with "sluice key create"',
    ])
  })

  const wrong: readonly (readonly [what: string, text: string | undefined, said: RegExp])[] = [
    ['is missing', undefined, /^sluice: bad\.yaml cannot be read: ENOENT$/],
    ['is not YAML', 'model_list:\n  - {api_key: canary-1\n}}', /^sluice: bad\.yaml:\d+ is not valid YAML \([A-Z_]+\)$/],
    ['is a list', '- canary-2', /^sluice: bad\.yaml is no configuration: it has no fields$/],
    [
      'includes itself and what is missing',
      'include: [bad.yaml, gone.yaml]',
      /^sluice: gone\.yaml cannot be read: ENOENT$/,
    ],
    [
      'names an anchor that is not there',
      'model_list: *gone',
      /^sluice: bad\.yaml:1 is not valid YAML \(\w+( \w+)*\)$/,
    ],
    ['is a bomb of aliases', bomb(), /^sluice: bad\.yaml:\d+ has more than/],
  ]
  for (const [what, text, said] of wrong)
    it(`answers 1 to a file that ${what}, and quotes nothing of it`, async () => {
      if (text !== undefined) await here.write('bad.yaml', text)
      const { status, out, error } = await here.run('import', 'litellm', 'bad.yaml', '--out', 'new')
      expect([status, out]).to.deep.equal([1, []])
      expect(error.join('\n')).to.match(said)
      expect(readdirSync(here.folder)).to.not.include('new')
    })

  it('answers 2 to wrong use', async () => {
    const { status, error } = await here.run('import', 'litellm')
    expect([status, ...error]).to.deep.equal([2, 'sluice: name a configuration, or a --database'])
  })
})

function bomb(): string {
  const lines = ['a: &a [x, x, x, x, x, x, x, x, x, x]']
  for (const [at, name] of ['b', 'c', 'd', 'e', 'f', 'g', 'h'].entries()) {
    const before = 'abcdefg'[at]
    lines.push(`${name}: &${name} [${`*${before}, `.repeat(9)}*${before}]`)
  }
  return lines.join('\n')
}
