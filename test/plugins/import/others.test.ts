import { readFileSync, readdirSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import Sqlite from 'better-sqlite3'
import { expect } from 'chai'
import { parse } from 'yaml'
import { isBifrostSection } from '../../../plugins/import/bifrost.ts'
import { isPortkeySection } from '../../../plugins/import/portkey.ts'
import { root, sandbox } from '../../engine/cli/sandbox.ts'
import type { Sandbox } from '../../engine/cli/sandbox.ts'
import { answerOf, goldenOf, requireGolden, silentLeaves, startImported } from './imported.ts'
import type { ShownReport } from './imported.ts'

const samplesOf = (product: string) => join(root, 'test', 'import', product)
const sections = { portkey: isPortkeySection, bifrost: isBifrostSection } as const

describe('plugins/import: portkey and bifrost', () => {
  let here: Sandbox
  beforeEach(async () => {
    here = await sandbox()
  })
  afterEach(() => here.remove())

  const folder = () => join(here.folder, 'new')
  const imported = async (product: string, name: string, ...words: string[]) => {
    const file = join(samplesOf(product), `${name}.json`)
    const { status, out, error } = await here.run('import', product, file, '--out', 'new', '--json', ...words)
    expect(error).to.deep.equal([])
    return { status, report: JSON.parse(out.join('\n')) as ShownReport }
  }

  for (const [product, isSection] of Object.entries(sections))
    for (const name of readdirSync(samplesOf(product))
      .filter((one) => one.endsWith('.json'))
      .map((one) => basename(one, '.json')))
      it(`imports ${name} of ${product}: nothing is silent, the result is right, and no secret is told`, async () => {
        const { report, status } = await imported(product, name)
        expect(status).to.equal(report.counts.lost > 0 ? 3 : 0)
        const path = join(samplesOf(product), `${name}.json`)
        expect(silentLeaves(path, await readFile(path, 'utf8'), report, isSection)).to.deep.equal([])
        const shown = {
          ...report,
          items: report.items.map((item) => ({ ...item, file: relative(samplesOf(product), item.file) })),
        }
        const golden = (await goldenOf(folder(), shown)).replaceAll(`${samplesOf(product)}/`, '')
        await requireGolden(join(samplesOf(product), `${name}.expected.txt`), golden)
        const told = JSON.stringify(report) + readFileSync(join(folder(), 'import-report.md'), 'utf8')
        expect(told + readFileSync(join(folder(), 'config/sluice.yaml'), 'utf8')).to.not.include('canary')
        const checked = await here.run('--config', 'new/config/sluice.yaml', 'check')
        expect([checked.status, ...checked.error]).to.deep.equal([0])
      })

  it('takes a key that is written as a variable of a shell, with words beside it, for that variable', async () => {
    await here.write('shell.json', '{ "provider": "openai", "api_key": "${GIVEN_KEY:?must be set}" }')
    const { out } = await here.run('import', 'portkey', 'shell.json', '--out', 'new', '--json')
    expect(await readFile(join(folder(), 'config/sluice.yaml'), 'utf8')).to.include('api_key: ${GIVEN_KEY}')
    const { items } = JSON.parse(out.join('\n')) as ShownReport
    expect(items.find(({ path }) => path === 'api_key')?.advice).to.equal('stands for a variable here: set GIVEN_KEY')
  })

  it('tries the targets of a fallback in their order, with the names that they say', async () => {
    await imported('portkey', 'fallback')
    const gateway = await startImported(folder())
    try {
      const asked: string[] = []
      gateway.upstream.answer((request) => {
        asked.push((JSON.parse(request.body.toString()) as { model: string }).model)
        return asked.length < 3 ? { status: 429, body: {} } : answerOf(request)
      })
      const { status, text } = await gateway.ask('gpt-5')
      expect([status, text.includes('Good day')]).to.deep.equal([200, true])
      expect(asked).to.deep.equal(['gpt-5', 'claude-sonnet-4-5', 'llama-3.3-70b-versatile'])
    } finally {
      await gateway.close()
    }
  })

  it('tries every target of a fallback, however few tries each of them has, and tells which of a single one are not used', async () => {
    const target = (name: string) => ({ provider: 'openai', api_key: `key-${name}`, override_params: { model: name } })
    const fallback = { strategy: { mode: 'fallback' }, targets: ['a', 'b', 'c', 'd', 'e'].map(target) }
    await here.write('five.json', JSON.stringify({ ...fallback, retry: { attempts: 0 } }))
    expect((await here.run('import', 'portkey', 'five.json', '--out', 'new')).status).to.equal(0)
    const gateway = await startImported(folder())
    try {
      gateway.upstream.answer((request) =>
        request.body.includes('"model":"e"') ? answerOf(request) : { status: 503, body: {} },
      )
      const { status, text } = await gateway.ask('gpt-5')
      expect(status, text).to.equal(200)
      expect(gateway.upstream.requests.length).to.equal(5)
    } finally {
      await gateway.close()
    }
    await here.write('single.json', JSON.stringify({ strategy: { mode: 'single' }, targets: ['a', 'b'].map(target) }))
    const { status, out } = await here.run('import', 'portkey', 'single.json', '--out', 'other', '--json')
    const { items } = JSON.parse(out.join('\n')) as ShownReport
    const unused = items.filter(({ path }) => path.startsWith('targets[1].'))
    expect(unused.map(({ status: became }) => became)).to.deep.equal(['default', 'default', 'default'])
    expect(status).to.equal(0)
    expect(readFileSync(join(here.folder, 'other/.env'), 'utf8')).to.not.include('key-b')
  })

  it('asks what a condition says, by the name of the model', async () => {
    await imported('portkey', 'conditional')
    const gateway = await startImported(folder())
    try {
      for (const name of ['smart', 'cheap', 'quick', 'anything']) expect((await gateway.ask(name)).status).to.equal(200)
      const asked = gateway.upstream.requests.map(
        ({ body }) => (JSON.parse(body.toString()) as { model: string }).model,
      )
      expect(asked).to.deep.equal(['claude-opus-4-1', 'gpt-4.1-mini', 'gpt-4.1-mini', 'gpt-4.1-mini'])
    } finally {
      await gateway.close()
    }
  })

  it('makes a gateway of the providers of Bifrost that answers', async () => {
    await imported('bifrost', 'providers')
    const gateway = await startImported(folder())
    try {
      for (const name of [
        'openai/gpt-4o',
        'openai/gpt-5',
        'azure/gpt-4.1',
        'bedrock/nova',
        'ollama/llama3',
        'my-llm/x',
      ]) {
        const { status, text } = await gateway.ask(name)
        expect([name, status, text.includes('Good day')]).to.deep.equal([name, 200, true])
      }
      expect(gateway.upstream.requests.map(({ path }) => path)).to.include.members([
        '/openai/deployments/our-gpt-4-1/chat/completions?api-version=2024-10-21',
        '/model/amazon.nova-pro-v1%3A0/converse',
      ])
    } finally {
      await gateway.close()
    }
  })

  it('lets virtual keys of Bifrost go on working, with what they may use', async () => {
    const { report } = await imported('bifrost', 'governance')
    expect(report.keys).to.deep.equal({ imported: 4, skipped: 0, disabled: [], lost: ['textless'] })
    const gateway = await startImported(folder(), { withKey: false, env: { VIRTUAL_KEY: 'sk-bf-from-the-variable' } })
    try {
      const may = async (key: string, model: string) => (await gateway.ask(model, key)).status
      expect(await may('sk-bf-canary-00000001', 'openai/gpt-4o')).to.equal(200)
      expect(await may('sk-bf-canary-00000001', 'openai/gpt-5')).to.equal(403)
      expect(await may('sk-bf-canary-00000001', 'anthropic/claude-haiku-4-5')).to.equal(200)
      expect(await may('sk-bf-canary-00000002', 'openai/gpt-5')).to.equal(200)
      expect(await may('sk-bf-canary-00000002', 'openai/gpt-5')).to.equal(200)
      expect(await may('sk-bf-canary-00000002', 'openai/gpt-5')).to.equal(429)
      expect(await may('sk-bf-canary-00000003', 'openai/gpt-4o')).to.equal(401)
      expect(await may('sk-bf-canary-00000004', 'openai/gpt-4o')).to.equal(403)
      expect(await may('sk-bf-from-the-variable', 'anthropic/claude-haiku-4-5')).to.equal(200)
      expect(await may('sk-bf-from-the-variable', 'openai/gpt-4o')).to.equal(403)
    } finally {
      await gateway.close()
    }
    expect((await imported('bifrost', 'governance', '--force')).report.keys).to.deep.include({
      imported: 0,
      skipped: 4,
    })
  })

  it('foresees what is stored in a database whose address is relative to the folder', async () => {
    const environment = { DATABASE_URL: 'sqlite:data/own.db' }
    const words = ['import', 'bifrost', join(samplesOf('bifrost'), 'governance.json'), '--out', 'new', '--json']
    const keysOf = async (...more: string[]) =>
      (JSON.parse((await here.run([...words, ...more], environment)).out.join('\n')) as ShownReport).keys
    const foreseen = await keysOf('--dry-run')
    expect(await keysOf()).to.deep.equal(foreseen)
    expect(readdirSync(join(folder(), 'data'))).to.include('own.db')
    expect(await keysOf('--dry-run')).to.deep.include({ imported: 0, skipped: 4 })
  })

  it('tells of places of Bifrost beyond those that a model can have', async () => {
    const keys = Array.from({ length: 18 }, (_, at) => ({ value: `env.KEY_${at}`, models: ['gpt-4o'], weight: 1 }))
    await here.write('many.json', JSON.stringify({ providers: { openai: { keys } } }))
    const { out } = await here.run('import', 'bifrost', 'many.json', '--out', 'new', '--json')
    const { items } = JSON.parse(out.join('\n')) as ShownReport
    expect(items.filter(({ status }) => status === 'lost').map(({ path, advice }) => [path, advice])).to.deep.equal(
      [16, 17].map((at) => [`providers.openai.keys[${at}].models`, 'a model has at most 16 places']),
    )
  })

  it('gives virtual keys of Bifrost the models of those keys of a provider that they may use', async () => {
    const key = (name: string, models: readonly string[]) => ({ name, value: `env.${name}`, models, weight: 1 })
    const virtual = (name: string, more: object) => ({
      name,
      value: `sk-bf-${name}-0000`,
      provider_configs: [{ provider: 'openai', allowed_models: ['*'], ...more }],
    })
    const keys = [key('SMALL', ['gpt-4o-mini']), key('LARGE', ['gpt-4o-mini', 'gpt-4o']), key('ANY', ['*'])]
    const virtual_keys = [
      virtual('every', { key_ids: ['*'] }),
      virtual('small', { key_ids: ['SMALL'] }),
      virtual('named', { key_ids: ['SMALL', 'LARGE'], allowed_models: ['gpt-4o', 'gpt-5'] }),
      virtual('any', { key_ids: ['ANY'], allowed_models: ['gpt-5'] }),
      virtual('none', { key_ids: [] }),
      virtual('gone', { keys: [{ name: 'GONE' }] }),
    ]
    const file = (version: number) =>
      here.write(
        'keys.json',
        JSON.stringify({ version, providers: { openai: { keys } }, governance: { virtual_keys } }),
      )
    const modelsOf = async (out: string) => {
      const { status } = await here.run('import', 'bifrost', 'keys.json', '--out', out)
      const database = new Sqlite(join(here.folder, out, 'data/sluice.db'), { readonly: true })
      const rows = database.prepare('select name, models from api_keys').all() as { name: string; models: string }[]
      database.close()
      return {
        status,
        models: Object.fromEntries(rows.map(({ name, models }) => [name, JSON.parse(models) as unknown])),
      }
    }
    const all = ['openai/gpt-4o-mini', 'openai/gpt-4o', 'openai/*']
    const narrow = { every: all, small: all.slice(0, 1), named: ['openai/gpt-4o'], any: ['openai/gpt-5'], gone: [] }
    await file(2)
    expect(await modelsOf('new')).to.deep.equal({ status: 0, models: { ...narrow, none: [] } })
    await file(1)
    expect((await modelsOf('first')).models).to.deep.include({ small: narrow.small, none: all })
  })

  it('gives virtual keys of Bifrost no model that no key of a provider serves to them', async () => {
    const key = (name: string, models: readonly string[] | undefined, more: object = {}) => ({
      name,
      value: `env.${name}`,
      models,
      ...more,
    })
    const imports = async (keys: readonly object[], config: object, version?: number) => {
      const virtual = { name: 'v', value: 'sk-bf-v-0000', provider_configs: [{ provider: 'openai', ...config }] }
      const text = JSON.stringify({ version, providers: { openai: { keys } }, governance: { virtual_keys: [virtual] } })
      await here.write('served.json', text)
      const { status, out } = await here.run('import', 'bifrost', 'served.json', '--out', 'new', '--force', '--json')
      const { items, keys: counts } = JSON.parse(out.join('\n')) as ShownReport
      const database = new Sqlite(join(folder(), 'data/sluice.db'), { readonly: true })
      const { models, disabled } = database.prepare('select models, disabled from api_keys').get() as {
        models: string
        disabled: number
      }
      database.close()
      rmSync(join(folder(), 'data'), { recursive: true })
      expect(counts.disabled).to.deep.equal(disabled === 1 ? ['v'] : [])
      const toldOf = (end: string) => items.find(({ path }) => path.endsWith(end))?.status
      const { models: names = [] } = parse(readFileSync(join(folder(), 'config/sluice.yaml'), 'utf8')) as {
        models?: { name: string }[]
      }
      return { status, models: JSON.parse(models) as unknown, disabled, toldOf, written: names.map(({ name }) => name) }
    }
    const all = { allowed_models: ['*'], key_ids: ['*'] }
    const only = (name: string) => ({ allowed_models: ['*'], key_ids: [name] })

    const off = [key('A', ['gpt-4o'], { enabled: false }), key('B', ['*'])]
    expect(await imports(off, only('A'))).to.deep.include({ models: [], disabled: 0 })
    expect(await imports(off, { allowed_models: ['*'], allowed_keys: ['A'] }, 1)).to.deep.include({ models: [] })

    const denying = key('K2', ['*'], { blacklisted_models: ['GPT-5'] })
    const both = [key('K1', ['gpt-5']), denying]
    expect(await imports(both, only('K2'))).to.deep.include({ models: ['openai/*'], disabled: 1 })
    expect(await imports(both, { ...only('K2'), allowed_models: ['gpt-5', 'gpt-4o'] })).to.deep.include({
      models: ['openai/gpt-4o'],
      disabled: 0,
    })
    expect(await imports(both, all), 'the other key serves it').to.deep.include({ disabled: 0 })
    expect(await imports([denying], all), 'no key serves it').to.deep.include({ models: ['openai/*'], disabled: 1 })
    expect(await imports([key('K', ['*'], { blacklisted_models: ['*'] })], all)).to.deep.include({
      models: [],
      disabled: 0,
      written: [],
    })
    const listed = await imports([key('K', ['a', 'b'], { blacklisted_models: ['b'] })], only('K'))
    expect(listed).to.deep.include({ status: 0, models: ['openai/a'], disabled: 0, written: ['openai/a'] })
    expect(listed.toldOf('keys[0].blacklisted_models')).to.equal('mapped')
    const own = { ...all, allowed_models: ['a', 'b'], blacklisted_models: ['B'] }
    expect(await imports([key('K', ['a', 'b'])], own)).to.deep.include({ models: ['openai/a'] })

    const empty = [key('E', []), key('F', ['gpt-4o'])]
    for (const version of [1, undefined])
      expect(await imports(empty, only('E'), version)).to.deep.include({ models: ['openai/*', 'openai/gpt-4o'] })
    const nothing = await imports(empty, all, 2)
    expect(nothing).to.deep.include({ models: ['openai/gpt-4o'], written: ['openai/gpt-4o'] })
    expect(nothing.toldOf('keys[0].models')).to.equal('changed')
    expect(await imports(empty, only('E'), 2)).to.deep.include({ models: [] })
    expect(await imports([key('E', undefined)], all, 2)).to.deep.include({ written: ['openai/*'] })
    const azure = { azure_key_config: { endpoint: 'https://a.openai.azure.com', deployments: { a: 'x', b: 'y' } } }
    await here.write('azure.json', JSON.stringify({ providers: { azure: { keys: [key('K', ['a'], azure)] } } }))
    await here.run('import', 'bifrost', 'azure.json', '--out', 'new', '--force')
    expect(readFileSync(join(folder(), 'config/sluice.yaml'), 'utf8'))
      .to.include('azure/a')
      .and.not.include('azure/b')
  })

  it('lets virtual keys of Bifrost end as before, and leaves out models that they may not use', async () => {
    const virtual = (name: string, more: object, config: object = {}) => ({
      name,
      value: `sk-bf-${name}-0000`,
      provider_configs: [{ provider: 'openai', allowed_models: ['*'], ...config }],
      ...more,
    })
    const listed = { allowed_models: ['gpt-4o', 'gpt-5'], blacklisted_models: ['gpt-5'] }
    await here.write(
      'ends.json',
      JSON.stringify({
        providers: { openai: { keys: [{ name: 'K', value: 'env.K', models: ['*'], weight: 1 }] } },
        governance: {
          virtual_keys: [
            virtual('over', { expires_at: '2020-01-31T12:00:00Z' }),
            virtual('lasting', { expires_at: '2199-01-31T12:00:00Z' }, listed),
            virtual('odd', { expires_at: 'some day' }),
            virtual('wide', {}, { blacklisted_models: ['gpt-5'] }),
            virtual('shut', {}, { blacklisted_models: ['*'] }),
            { ...virtual('named', { expires_at: '2199-01-31T12:00:00Z' }), value: 'env.NAMED' },
          ],
        },
      }),
    )
    const { status, out } = await here.run('import', 'bifrost', 'ends.json', '--out', 'new', '--json')
    const { keys } = JSON.parse(out.join('\n')) as ShownReport
    expect([status, keys.disabled]).to.deep.equal([0, ['odd', 'wide']])
    const database = new Sqlite(join(folder(), 'data/sluice.db'), { readonly: true })
    const rows = database.prepare('select name, models, disabled, expires_at from api_keys order by name').all()
    database.close()
    const [every, later] = ['["openai/*"]', Date.UTC(2199, 0, 31, 12)]
    expect(rows).to.deep.equal([
      { name: 'lasting', models: '["openai/gpt-4o"]', disabled: 0, expires_at: later },
      { name: 'odd', models: every, disabled: 1, expires_at: null },
      { name: 'over', models: every, disabled: 0, expires_at: Date.UTC(2020, 0, 31, 12) },
      { name: 'shut', models: '[]', disabled: 0, expires_at: null },
      { name: 'wide', models: every, disabled: 1, expires_at: null },
    ])
    expect(readFileSync(join(folder(), 'config/sluice.yaml'), 'utf8')).to.include(
      'expires_at: 2199-01-31T12:00:00.000Z',
    )
  })

  it('gives virtual keys of Bifrost no more servers and requests than they had', async () => {
    const { report } = await imported('bifrost', 'narrow')
    expect(report.keys).to.deep.include({ imported: 3, disabled: ['stopped'] })
    const database = new Sqlite(join(folder(), 'data/sluice.db'), { readonly: true })
    const rows = database.prepare('select name, mcp_servers, disabled from api_keys order by name').all()
    database.close()
    expect(rows).to.deep.equal([
      { name: 'open', mcp_servers: '["open"]', disabled: 0 },
      { name: 'some', mcp_servers: '["two-words"]', disabled: 0 },
      { name: 'stopped', mcp_servers: '[]', disabled: 1 },
    ])
  })

  it('writes nothing, and stores no key, if the result would not pass its check', async () => {
    const server = { name: 's', connection_type: 'http', connection_string: 'https://mcp.example.com/mcp' }
    await here.write(
      'wrong.json',
      JSON.stringify({
        providers: { openai: { keys: [] } },
        mcp: { client_configs: [{ ...server, tools_to_execute: ['x'.repeat(300)] }] },
        governance: { virtual_keys: [{ id: 'vk', value: 'sk-bf-canary-00000021' }] },
      }),
    )
    for (const words of [[], ['--dry-run']]) {
      const { status, error } = await here.run('import', 'bifrost', 'wrong.json', '--out', 'new', ...words)
      expect(status).to.equal(1)
      expect(error.join('\n')).to.match(
        /^sluice: the result would not pass "sluice check", so nothing was written:\nconfig\/sluice\.yaml:\d+:/,
      )
      expect(readdirSync(here.folder)).to.not.include('new')
    }
  })

  it('has written the report, if the keys cannot be stored', async () => {
    const words = ['import', 'bifrost', join(samplesOf('bifrost'), 'narrow.json'), '--out', 'new']
    await here.write('new/.env', 'DATABASE_URL=mysql://none')
    const { status, error } = await here.run(...words)
    expect([status, error[0]?.split(':', 2)]).to.deep.equal([1, ['sluice', ' the keys were not stored']])
    expect(readFileSync(join(folder(), 'import-report.md'), 'utf8')).to.include('# Import from Bifrost')
  })

  for (const product of Object.keys(sections))
    it(`answers 1 to a file for ${product} that is no configuration, and quotes nothing of it`, async () => {
      await here.write('bad.json', '{"a": "canary-0')
      const { status, error } = await here.run('import', product, 'bad.json', '--out', 'new')
      expect(status).to.equal(1)
      expect(error.join('\n')).to.match(/^sluice: bad\.json:\d+ is not valid YAML \([A-Z_]+\)$/)
      expect(readdirSync(here.folder)).to.not.include('new')
    })
})
