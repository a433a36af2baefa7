import { expect } from 'chai'
import { openDatabase } from '../../../engine/store/database.ts'
import { startGateway } from '../../support/gateway.ts'
import { migrateKeys } from '../../support/keys.ts'
import { configuration, sandbox } from '../../engine/cli/sandbox.ts'
import type { Sandbox } from '../../engine/cli/sandbox.ts'
import { tablesOf } from '../../support/tables.ts'
import { until } from '../../support/until.ts'

/** Lists of declared keys that a gateway refuses, and what is said of them. */
const refused: readonly (readonly [string, string])[] = [
  ['{ name: d, key: "has space in it" }', 'must be printable ASCII characters without spaces'],
  ['{ name: d, key: "ünïcödekey" }', 'must be printable ASCII characters without spaces'],
  ['{ name: d, key: short }', 'must have at least 8 characters'],
  [`{ name: d, key: ${'x'.repeat(257)} }`, 'must have at most 256 characters'],
  ['{ name: d, key: long-enough-0, expires_at: "" }', 'must not be empty'],
  ['{ name: d, key: long-enough-0, expires_at: soon }', 'must be a date'],
  ['{ name: d, key: long-enough-1 }, { name: d, key: long-enough-2 }', 'the name "d" is already taken'],
  [
    '{ name: d, key: long-enough-1 }, { name: D, key: long-enough-2 }',
    'the API key "d" has the same name, apart from upper and lower case',
  ],
  ['{ name: d, key: long-enough-0 }, { name: e, key: long-enough-0 }', 'the API key "d" has the same text'],
]

const models = `[{ name: large, provider: echo, aliases: [big] }, { name: small, provider: echo }]`

describe('plugins/keys: commands', () => {
  let here: Sandbox
  let url: string
  beforeEach(async () => {
    here = await sandbox()
    url = `sqlite:${here.folder}/sluice.db`
    const settings = configuration.replace(/^models: .*$/m, `models: ${models}`)
    await here.write(
      'config/sluice.yaml',
      `${settings}database: { url: '${url}' }\napi_keys: [{ name: dev, key: dev-key-1 }]\n`,
    )
  })
  afterEach(() => here.remove())

  const made = async () => {
    const database = await openDatabase(url)
    try {
      await migrateKeys(database)
      return await tablesOf(database).selectFrom('api_keys').select(['name', 'models', 'expires_at']).execute()
    } finally {
      await database.close()
    }
  }
  const refusal = async (...words: string[]) => {
    const { status, out, error } = await here.run('key', 'create', ...words)
    expect(out).to.deep.equal([])
    expect(await made()).to.deep.equal([])
    return [status, ...error]
  }

  for (const [keys, message] of refused)
    it(`"sluice check" refuses what a gateway would not serve: ${keys.slice(0, 80)}`, async () => {
      await here.write('config/sluice.yaml', `${configuration}api_keys: [${keys}]\n`)
      const checked = await here.run('check')
      expect(checked.status).to.equal(1)
      expect(checked.out).to.have.length(1)
      expect(checked.out[0])
        .to.include(message)
        .and.to.match(/^config\/sluice\.yaml:4:/)
    })

  it('finds nothing in a key whose variables are unset', async () => {
    const unset = '{ name: d, key: "${SLUICE_NO_KEY}", expires_at: "${SLUICE_NO_DATE}" }'
    await here.write('config/sluice.yaml', `${configuration}api_keys: [${unset}]\n`)
    expect((await here.run('check')).status).to.equal(0)
  })

  it('prints the key alone, and says beside it when it is known', async () => {
    const { status, out, error } = await here.run('key', 'create', '--name', 'alice')
    expect(status).to.equal(0)
    expect(out).to.have.length(1)
    expect(out[0]).to.match(/^sk-sluice-[\w-]{43}$/)
    expect(error).to.deep.equal(['Running gateways accept it now.'])
    expect(await made()).to.deep.equal([{ name: 'alice', models: null, expires_at: null }])
  })

  it('prints JSON', async () => {
    const { out } = await here.run('key', 'create', '--name', 'alice', '--json')
    expect(JSON.parse(out.join('\n')))
      .to.have.keys('id', 'name', 'key')
      .and.to.include({ name: 'alice' })
  })

  for (const words of [['small,big'], ['small', 'big']])
    it(`restricts it to models, by name or alias: --models ${words.join(' ')}`, async () => {
      await here.run('key', 'create', '--name', 'alice', '--models', ...words)
      expect(await made()).to.deep.equal([{ name: 'alice', models: '["small","large"]', expires_at: null }])
    })

  it('lets it end', async () => {
    await here.run('key', 'create', '--name', 'alice', '--expires', '2999-01-31T12:00:00Z')
    expect(await made()).to.deep.equal([{ name: 'alice', models: null, expires_at: Date.UTC(2999, 0, 31, 12) }])
  })

  it('refuses models that do not exist', async () => {
    expect(await refusal('--name', 'alice', '--models', 'small,lagre')).to.deep.equal([
      2,
      'sluice: there is no model "lagre"; did you mean "large"?',
    ])
  })

  for (const name of ['', ' ', 'two words', 'x'.repeat(257)])
    it(`refuses the name "${name.slice(0, 20)}"`, async () => {
      expect(await refusal('--name', name)).to.deep.equal([
        2,
        'sluice: the name of a key is 1 to 256 characters without spaces',
      ])
    })

  for (const date of ['tomorrow', '2999-02-30', '2999', 'Jan 1 2999'])
    it(`refuses the date "${date}"`, async () => {
      expect(await refusal('--name', 'alice', '--expires', date)).to.deep.equal([
        2,
        `sluice: "${date}" is no date; write it like 2027-01-31 or 2027-01-31T12:00:00Z`,
      ])
    })

  it('refuses a date that has passed', async () => {
    expect(await refusal('--name', 'alice', '--expires', '2020-01-31')).to.deep.equal([
      2,
      'sluice: "2020-01-31" has passed already',
    ])
  })

  it('refuses a name that the configuration uses', async () => {
    expect(await refusal('--name', 'dev')).to.deep.equal([
      1,
      'sluice: an API key named "dev" is declared in the config file',
    ])
  })

  it('lists declared keys and those of the database, and shows no text', async () => {
    await here.run('key', 'create', '--name', 'alice', '--models', 'big', '--expires', '2999-01-31')
    const { status, out } = await here.run('key', 'list')
    expect(status).to.equal(0)
    expect(out).to.have.length(3)
    expect(out[0]).to.match(/^name +key +state +expires +id +models$/)
    expect(out[1]).to.match(/^dev +\(file\) +in use +never +file:dev +all$/)
    expect(out[2]).to.match(/^alice +….{4} +in use +2999-01-31 +[0-9a-f-]{36} +large$/)
    const listed = JSON.parse((await here.run('key', 'list', '--json')).out.join('\n')) as object[]
    expect(listed).to.have.length(2)
    expect(listed[1]).to.include({ name: 'alice', source: 'database', state: 'in use' }).and.not.have.property('hash')
  })

  it('lists a key that is left out, and why', async () => {
    const { out } = await here.run('key', 'create', '--name', 'app')
    await here.run('key', 'create', '--name', 'Twin')
    const declared = `[{ name: copy, key: ${out[0]} }, { name: twin, key: dev-key-2 }]`
    await here.write('config/sluice.yaml', `${configuration}database: { url: '${url}' }\napi_keys: ${declared}\n`)
    const rows = (await here.run('key', 'list')).out.slice(-2)
    expect(rows[0]).to.match(/^app .* left out: the file declares a key of the same text +never /)
    expect(rows[1]).to.match(/^Twin .* left out: the file declares a key of the same name +never /)
    const listed = JSON.parse((await here.run('key', 'list', '--json')).out.join('\n')) as { state: string }[]
    expect(listed.map(({ state }) => state)).to.deep.equal(['in use', 'in use', 'left out', 'left out'])
    await here.run('key', 'revoke', 'app')
    expect((await here.run('key', 'list')).out.find((line) => line.startsWith('app '))).to.match(/ revoked +never /)
  })

  it('revokes a key by its name or its id, once', async () => {
    const { out } = await here.run('key', 'create', '--name', 'alice', '--json')
    const { id } = JSON.parse(out.join('')) as { id: string }
    await here.run('key', 'create', '--name', 'bob')
    expect((await here.run('key', 'revoke', 'bob')).out[0]).to.match(/^The API key "bob" is revoked\./)
    const { status, out: revoked } = await here.run('key', 'revoke', id, '--json')
    expect(status).to.equal(0)
    expect(JSON.parse(revoked.join(''))).to.deep.equal({ id, name: 'alice', revoked: true })
    const again = await here.run('key', 'revoke', 'alice')
    expect([again.status, ...again.error]).to.deep.equal([1, 'sluice: the API key "alice" is revoked already'])
    expect((await here.run('key', 'list')).out.filter((line) => line.includes('revoked'))).to.have.length(2)
    expect((await here.run('key', 'create', '--name', 'alice')).status, 'the name is free again').to.equal(0)
    expect((await here.run('key', 'create', '--name', 'Alice')).error).to.deep.equal([
      'sluice: an API key named "Alice" exists already',
    ])
  })

  it('creates a key with a budget, tags and an owner who exists', async () => {
    const words = ['--name', 'alice', '--budget', '2.5', '--period', 'week', '--tags', 'team:red,env:a:b']
    expect((await here.run('key', 'create', ...words)).status).to.equal(0)
    const database = await openDatabase(url)
    const row = await tablesOf(database).selectFrom('api_keys').selectAll().executeTakeFirstOrThrow()
    await database.close()
    expect(row).to.include({
      budget: '{"usd":2.5,"period":"week"}',
      tags: '{"team":"red","env":"a:b"}',
      created_by: null,
    })
    const refused = async (...more: string[]) => {
      const { status, error } = await here.run('key', 'create', '--name', 'bob', ...more)
      return [status, ...error]
    }
    expect(await refused('--owner', 'nobody')).to.deep.equal([
      2,
      'sluice: "nobody" is neither the username nor the id of a member',
    ])
    expect(await refused('--tags', 'red')).to.deep.equal([2, 'sluice: "red" is no label; write it like team:red'])
    expect((await refused('--budget', '0.0000001')).join(' ')).to.include('must have at most 6 decimals')
  })

  it('creates a key with a rate limit, for an owner by username or id', async () => {
    const member = await here.run('member', 'create', '--username', 'Bob', '--json')
    const { id } = JSON.parse(member.out.join('')) as { id: string }
    const limits = ['--rate-limit', 'requests=60,tokens=100000', 'period=1h']
    expect((await here.run('key', 'create', '--name', 'one', '--owner', 'bob', ...limits)).error).to.deep.equal([
      'Running gateways accept it now.',
    ])
    const second = ['--name', 'two', '--owner', id, '--rate-limit', 'requests=5']
    expect((await here.run('key', 'create', ...second)).status).to.equal(0)
    const database = await openDatabase(url)
    const rows = await tablesOf(database)
      .selectFrom('api_keys')
      .select(['owner', 'rate_limit'])
      .orderBy('name')
      .execute()
    await database.close()
    expect(rows.map(({ owner, rate_limit: limit }) => [owner, JSON.parse(limit ?? 'null') as unknown])).to.deep.equal([
      [id, { requests: 60, tokens: 100_000, period: '1h' }],
      [id, { requests: 5, period: '60s' }],
    ])
    const refused = async (...words: string[]) => {
      const { status, error } = await here.run('key', 'create', '--name', 'three', '--rate-limit', ...words)
      return `${status} ${error.join(' ')}`
    }
    expect(await refused('60')).to.match(/^2 sluice: "60" is no limit; write it like requests=60/)
    expect(await refused('requests=-1')).to.match(/^2 sluice: "requests=-1" is no limit/)
    for (const words of [['requests=0'], ['requests=1', 'period=soon'], ['period=60s']])
      expect(await refused(...words), words.join(' ')).to.match(/^[12] sluice: .*rate_limit/)
  })

  it('rotates a key by its name in any case, and lets the text before serve', async () => {
    const { id, key: first } = JSON.parse(
      (await here.run('key', 'create', '--name', 'alice', '--json')).out.join(''),
    ) as { id: string; key: string }
    const { status, out, error } = await here.run('key', 'rotate', 'Alice', '--grace', '24h', '--json')
    expect(status).to.equal(0)
    expect(error).to.deep.equal(['Running gateways accept it now, and the text before for 24h.'])
    const rotated = JSON.parse(out.join('')) as { id: string; name: string; key: string }
    expect(rotated).to.include({ id, name: 'alice' })
    expect(rotated.key)
      .to.match(/^sk-sluice-[\w-]{43}$/)
      .and.not.to.equal(first)
    const plain = await here.run('key', 'rotate', id)
    expect(plain.out[0]).to.match(/^sk-sluice-[\w-]{43}$/)
    expect(plain.error).to.deep.equal(['Running gateways accept it now. They reject the text before within a second.'])
    await here.run('key', 'revoke', 'alice')
    const refused = async (...words: string[]) => (await here.run('key', 'rotate', ...words)).error
    expect(await refused('alice')).to.deep.equal(['sluice: the API key "alice" is revoked already'])
    expect(await refused('dev')).to.deep.equal([
      'sluice: the API key "dev" is declared in the configuration file: change it there',
    ])
    expect(await refused('alice', '--grace', '8d')).to.deep.equal(['sluice: the grace 8d is longer than 7d'])
  })

  it('leaves a row in the audit trail for each change', async () => {
    const { out } = await here.run('key', 'create', '--name', 'alice')
    await here.run('key', 'rotate', 'alice')
    await here.run('key', 'revoke', 'alice')
    const database = await openDatabase(url)
    const rows = await tablesOf(database).selectFrom('audit').select('body').orderBy('sequence').execute()
    await database.close()
    const bodies = rows.map(({ body }) => JSON.parse(body) as { action: string; actor: object; target: object })
    expect(bodies.map(({ action }) => action)).to.deep.equal(['key.create', 'key.rotate', 'key.revoke'])
    for (const { actor, target } of bodies) {
      expect(actor).to.deep.equal({ type: 'cli', id: null, name: null })
      expect(target).to.include({ type: 'api_key', name: 'alice' })
    }
    expect(JSON.stringify(bodies)).not.to.include(out[0])
  })

  it('works beside a running gateway', async function () {
    this.timeout(300_000)
    const gateway = await startGateway({ database: url })
    try {
      const status = async (key = '') =>
        (await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': key } })).status
      const [made] = (await here.run('key', 'create', '--name', 'alice')).out
      expect(await status(made)).to.equal(200)
      const [next] = (await here.run('key', 'rotate', 'alice')).out
      await until(async () => (await status(made)) === 401)
      expect(await status(next)).to.equal(200)
      await here.run('key', 'revoke', 'alice')
      await until(async () => (await status(next)) === 401)
    } finally {
      await gateway.close()
    }
  })

  it('lists disabled keys as such', async () => {
    const keys = '[{ name: dev, key: dev-key-1, disabled: true }]'
    await here.write('config/sluice.yaml', `${configuration}database: { url: '${url}' }\napi_keys: ${keys}\n`)
    expect((await here.run('key', 'list')).out[1]).to.match(/^dev +\(file\) +disabled +never +file:dev +all$/)
  })

  it('says why a key cannot be revoked', async () => {
    await here.run('key', 'create', '--name', 'alice')
    const refused = async (key: string) => (await here.run('key', 'revoke', key)).error
    expect(await refused('dev')).to.deep.equal([
      'sluice: the API key "dev" is declared in the configuration file: remove it there',
    ])
    expect(await refused('alcie')).to.deep.equal(['sluice: the API key "alcie" is not there; did you mean "alice"?'])
  })

  describe('while the configuration has a finding', () => {
    const file = () => `${configuration}database: { url: '${url}' }\napi_keys: [{ name: dev, key: dev-key-1 }]\n`
    const edits: readonly (readonly [string, (sound: string) => string])[] = [
      ['a model of no provider', (sound) => sound.replace('provider: echo }', 'provider: nowhere }')],
      ['a field that nobody knows', (sound) => `${sound}colour: red\n`],
      ['a list that is no list', (sound) => sound.replace(/^models: .*$/m, 'models: echo')],
      ['a section with a wrong value', (sound) => `${sound}server_config: { logging: { level: loud } }\n`],
      ['a variable that is not set', (sound) => `${sound}shutdown: { notice: '\${SLUICE_NO_NOTICE}' }\n`],
      ['two keys of one text', (sound) => sound.replace(/^(api_keys: .*)]$/m, '$1, { name: two, key: dev-key-1 }]')],
      ['what is no YAML', (sound) => sound.replace('type: echo }]', 'type: echo ')],
      ['a line that is no YAML', (sound) => `${sound}\tlisten: : {\n`],
      ['a plugin that is not there', (sound) => `${sound}plugins: [nowhere.ts]\n`],
      ['a pipeline with a wrong word', (sound) => `${sound}pipelines: nowhere\n`],
    ]
    for (const [what, edit] of edits)
      it(`a leaked key is revoked: ${what}`, async () => {
        await here.run('key', 'create', '--name', 'leaked')
        await here.write('config/sluice.yaml', edit(file()))
        expect((await here.run('check')).status).to.equal(1)
        const { status, out, error } = await here.run('key', 'revoke', 'leaked')
        expect(status, error.join('\n')).to.equal(0)
        expect(out).to.deep.equal(['The API key "leaked" is revoked. Running gateways reject it within a second.'])
        expect((await here.run('key', 'list')).out.find((line) => line.startsWith('leaked'))).to.include(' revoked ')
      })

    it('says what it leaves out, and keeps all that the finding is not about', async () => {
      await here.write('config/sluice.yaml', file().replace('models: [', 'models: [{ name: bad, provider: nowhere }, '))
      const { status, out, error } = await here.run('key', 'create', '--name', 'alice', '--models', 'echo')
      expect(status, error.join('\n')).to.equal(0)
      expect(out).to.have.length(1)
      expect(error[0]).to.match(/^config\/sluice\.yaml:3:.*"nowhere"/)
      expect(error[1]).to.equal(
        'sluice: the command goes on without the parts of the configuration that these findings are about',
      )
      expect((await here.run('key', 'list')).out.join('\n')).to.include('file:dev')
    })

    for (const [what, database] of [
      ['is wrong', 'database: { url: nowhere }'],
      ['is no YAML', 'database: { url: '],
      ['may stand in what is no YAML', '\t{ database: {'],
    ] as const)
      it(`opens no database whose address ${what}, unless DATABASE_URL names it`, async () => {
        await here.run('key', 'create', '--name', 'leaked')
        await here.write('config/sluice.yaml', `${configuration}${database}\n`)
        const { status, error } = await here.run('key', 'revoke', 'leaked')
        expect(status).to.equal(1)
        expect(error.join('\n')).to.match(/^config\/sluice\.yaml:\d+:\d+: /)
        const named = await here.run(['key', 'revoke', 'leaked'], { DATABASE_URL: url })
        expect(named.status, named.error.join('\n')).to.equal(0)
      })

    it('other commands read as much of it: members, logs, audit', async () => {
      await here.write('config/sluice.yaml', file().replace('provider: echo }', 'provider: nowhere }'))
      for (const words of ['member list', 'logs', 'audit verify', 'member create --username ann']) {
        const { status, error } = await here.run(...words.split(' '))
        expect(status, `${words}: ${error.join('\n')}`).to.equal(0)
      }
    })
  })
})
