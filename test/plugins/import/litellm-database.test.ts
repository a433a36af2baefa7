import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { openDatabase } from '../../../engine/store/database.ts'
import { sandbox } from '../../engine/cli/sandbox.ts'
import type { Sandbox } from '../../engine/cli/sandbox.ts'
import { postgres } from '../../support/services.ts'
import type { Service } from '../../support/services.ts'
import { tablesOf } from '../../support/tables.ts'
import { startImported } from './imported.ts'
import type { ShownReport } from './imported.ts'
import { boxed, litellmTables, salt, sealed, stored } from './litellm-tables.ts'
import type { LitellmTables } from './litellm-tables.ts'

const config = `
model_list:
  - { model_name: gpt-4o, litellm_params: { model: openai/gpt-4o, input_cost_per_token: 0.001, output_cost_per_token: 0.001 }, model_info: { access_groups: [house] } }
  - { model_name: small one, litellm_params: { model: openai/gpt-4o-mini }, model_info: { access_groups: [house] } }
  - { model_name: claude, litellm_params: { model: anthropic/claude-haiku-4-5 } }
  - { model_name: "groq/*", litellm_params: { model: "groq/*" } }
router_settings: { model_group_alias: { gpt-4: gpt-4o } }
`

const past = '2020-01-01 00:00:00'
const future = '2199-01-01 00:00:00'

describe('plugins/import: the database of LiteLLM', () => {
  let service: Service
  let theirs: LitellmTables
  let here: Sandbox
  beforeEach(async function () {
    service = await postgres(this)
    here = await sandbox({ 'config.yaml': config })
  })
  afterEach(async () => {
    await theirs.close()
    await here.remove()
    await service.stop()
  })

  const folder = () => join(here.folder, 'new')
  const key = (text: string, fields: Readonly<Record<string, unknown>> = {}) =>
    theirs.add('VerificationToken', { ...stored(text), key_alias: text.slice(3), ...fields })
  const imported = async (
    words: readonly string[] = ['config.yaml'],
    environment: Readonly<Record<string, string>> = {},
  ) => {
    const ran = await here.run(
      ['import', 'litellm', ...words, '--database', service.url, '--out', 'new', '--json', '--force'],
      environment,
    )
    const text = ran.out.join('\n')
    return { ...ran, text, report: (text.startsWith('{') ? JSON.parse(text) : undefined) as ShownReport }
  }
  const said = ({ items }: ShownReport) =>
    items.filter(({ file }) => file === 'database').map(({ path, status }) => `${status} ${path}`)
  /** What the report says of limits that are not kept. */
  const lessStrict = () => {
    const [, after = ''] = readFileSync(join(folder(), 'import-report.md'), 'utf8').split('## Less strict than before')
    return after.split('##', 1)[0]
  }

  it('lets keys go on working, with what they may use, what they have spent and when they end', async () => {
    theirs = await litellmTables(service.url)
    await theirs.add('TeamTable', { team_id: 'red', team_alias: 'Red', models: ['claude', 'small one'], max_budget: 5 })
    await theirs.add('TeamTable', { team_id: 'halted', models: [], blocked: true })
    await theirs.add('BudgetTable', { budget_id: 'b1', max_budget: 0.5, budget_duration: '1d', rpm_limit: 1 })
    await theirs.add('UserTable', { user_id: 'ann', models: ['gpt-4o'], max_budget: 3 })
    await theirs.add('UserTable', { user_id: 'bob', models: [] })
    await theirs.add('UserTable', { user_id: 'eve', models: [], metadata: { scim_active: false } })
    await key('sk-of-a-leaver-014', { user_id: 'eve' })
    await key('sk-all-models-0001', { metadata: { tags: ['Free Tier'] }, user_id: 'bob' })
    await key('sk-two-models-0002', { models: ['gpt-4', 'small one', 'gone'] })
    await key('sk-by-the-group-03', { models: ['house'] })
    await key('sk-of-the-team-004', { models: ['all-team-models'], team_id: 'red' })
    await key('sk-of-the-team-005', { models: ['gpt-4o', 'claude'], team_id: 'red' })
    await theirs.add('BudgetTable', { budget_id: 'narrow', allowed_models: ['small one', 'gpt-4o'] })
    await theirs.add('TeamMembership', { user_id: 'bob', team_id: 'red', budget_id: 'narrow' })
    await theirs.add('TeamMembership', { user_id: 'ann', team_id: 'red' })
    await key('sk-of-a-member-005', { models: [], team_id: 'red', user_id: 'bob' })
    await key('sk-of-a-member-006', { models: [], team_id: 'red', user_id: 'ann' })
    await key('sk-no-models-00006', { models: ['no-default-models'] })
    await key('sk-wildcard-000007', { models: ['groq/llama-3'] })
    await key('sk-users-key-00008', { models: [], user_id: 'ann' })
    await key('sk-spent-0000009', { max_budget: 1, spend: 1.25, budget_duration: '30d', budget_reset_at: future })
    await key('sk-reset-00000010', { max_budget: 1, spend: 9, budget_duration: '30d', budget_reset_at: past })
    await key('sk-total-0000011', { max_budget: 2, spend: 2.5 })
    await key('sk-shared-000012', { budget_id: 'b1', spend: 0.1 })
    await key('sk-blocked-000013', { blocked: true })
    await key('sk-halted-0000014', { team_id: 'halted' })
    await key('sk-expired-000015', { expires: past })
    await key('sk-lasting-000016', { expires: future, rpm_limit: 60, tpm_limit: 200_000, max_parallel_requests: 3 })
    await key('sk-manager-000017', { key_type: 'management' })
    await key('sk-embedder-00018', { allowed_routes: ['/v1/embeddings'] })
    await key('sk-lost-team-0019', { team_id: 'gone' })
    await key('sk-rotated-000020')
    await theirs.add('DeprecatedVerificationToken', {
      id: '1',
      token: stored('sk-before-0000020').token,
      active_token_id: stored('sk-rotated-000020').token,
      revoke_at: future,
    })
    await theirs.add('DeprecatedVerificationToken', {
      id: '2',
      token: stored('sk-long-before-20').token,
      active_token_id: stored('sk-rotated-000020').token,
      revoke_at: past,
    })
    await key('sk-session-000021', { team_id: 'litellm-dashboard' })
    await theirs.add('VerificationToken', { token: 'my-own-key-in-clear', key_alias: 'clear' })

    const { status, report, text } = await imported()
    expect(status, text).to.equal(3)
    expect({ ...report.keys, disabled: report.keys.disabled.toSorted() }).to.deep.equal({
      imported: 23,
      skipped: 0,
      disabled: ['embedder-00018', 'lost-team-0019', 'manager-000017'],
      lost: ['clear'],
    })
    expect(text + readFileSync(join(folder(), 'import-report.md'), 'utf8')).to.not.include('my-own-key-in-clear')
    expect(said(report)).to.include.members([
      'lost LiteLLM_VerificationToken[clear]',
      'changed LiteLLM_VerificationToken[two-models-0002].models',
      'lost LiteLLM_UserTable',
      'changed LiteLLM_TeamTable[Red]',
    ])

    const gateway = await startImported(folder(), { withKey: false })
    try {
      const statusOf = async (text: string, model: string) => (await gateway.ask(model, text)).status
      const may = async (text: string, ...models: readonly string[]) => {
        const all = ['gpt-4o', 'small-one', 'claude', 'groq/llama-3']
        const found: string[] = []
        for (const model of all) {
          const code = await statusOf(text, model)
          expect([200, 403, 404]).to.include(code)
          if (code === 200) found.push(model)
        }
        expect([text, ...found]).to.deep.equal([text, ...models])
      }
      await may('sk-all-models-0001', 'gpt-4o', 'small-one', 'claude', 'groq/llama-3')
      await may('sk-two-models-0002', 'gpt-4o', 'small-one')
      await may('sk-by-the-group-03', 'gpt-4o', 'small-one')
      await may('sk-of-the-team-004', 'small-one', 'claude')
      await may('sk-of-the-team-005', 'claude')
      await may('sk-of-a-member-005', 'small-one')
      await may('sk-of-a-member-006', 'small-one', 'claude')
      await may('sk-no-models-00006')
      await may('sk-wildcard-000007', 'groq/llama-3')
      await may('sk-users-key-00008', 'gpt-4o')
      expect(await statusOf('sk-spent-0000009', 'gpt-4o')).to.equal(429)
      expect(await statusOf('sk-reset-00000010', 'gpt-4o')).to.equal(200)
      expect(await statusOf('sk-total-0000011', 'gpt-4o')).to.equal(429)
      expect(await statusOf('sk-shared-000012', 'small-one')).to.equal(200)
      expect(await statusOf('sk-shared-000012', 'small-one'), 'one request a minute').to.equal(429)
      for (const text of [
        'sk-blocked-000013',
        'sk-halted-0000014',
        'sk-of-a-leaver-014',
        'sk-expired-000015',
        'sk-manager-000017',
        'sk-embedder-00018',
        'sk-lost-team-0019',
        'sk-session-000021',
        'my-own-key-in-clear',
        'sk-long-before-20',
      ])
        expect([text, await statusOf(text, 'gpt-4o')]).to.deep.equal([text, 401])
      for (const text of ['sk-lasting-000016', 'sk-rotated-000020', 'sk-before-0000020'])
        expect([text, await statusOf(text, 'claude')]).to.deep.equal([text, 200])
    } finally {
      await gateway.close()
    }
    const database = await openDatabase(`sqlite:${join(folder(), 'data', 'sluice.db')}`)
    try {
      const rows = await tablesOf(database)
        .selectFrom('audit')
        .select('action')
        .where('action', '=', 'key.import')
        .execute()
      expect(rows.length).to.equal(23)
      const [row] = await tablesOf(database)
        .selectFrom('api_keys')
        .selectAll()
        .where('name', '=', 'lasting-000016')
        .execute()
      expect(row?.hint).to.equal('0016')
      expect(JSON.parse(row?.rate_limit ?? '')).to.deep.equal({
        requests: 60,
        tokens: 200_000,
        concurrency: 3,
        period: '60s',
      })
      expect(row?.expires_at).to.equal(Date.UTC(2199, 0, 1))
      const [tagged] = await tablesOf(database)
        .selectFrom('api_keys')
        .select('tags')
        .where('name', '=', 'all-models-0001')
        .execute()
      expect(JSON.parse(tagged?.tags ?? '')).to.deep.equal({ user: 'bob', 'tag-free-tier': 'true' })
    } finally {
      await database.close()
    }
  })

  it('changes nothing at a second import, and brings back no key that was revoked since', async () => {
    theirs = await litellmTables(service.url)
    await key('sk-first-00000001', { max_budget: 1, spend: 0.5 })
    await key('sk-second-0000002')
    await theirs.add('VerificationToken', stored('sk-nameless-00003'))
    const dry = await imported(['config.yaml', '--dry-run'])
    expect([dry.report.keys.imported, existsSync(folder())]).to.deep.equal([3, false])
    expect((await imported()).report.keys).to.deep.include({ imported: 3, skipped: 0 })
    const database = { DATABASE_URL: `sqlite:${join(folder(), 'data', 'sluice.db')}` }
    const revoked = await here.run(['--config', 'new/config/sluice.yaml', 'key', 'revoke', 'second-0000002'], database)
    expect(revoked.status).to.equal(0)
    const state = async () => {
      const open = await openDatabase(database.DATABASE_URL)
      try {
        const keys = await tablesOf(open).selectFrom('api_keys').selectAll().orderBy('name').execute()
        const sums = await tablesOf(open).selectFrom('limits_sums').selectAll().execute()
        return { keys, sums }
      } finally {
        await open.close()
      }
    }
    const before = await state()
    expect(before.keys.map(({ name }) => name)).to.deep.equal([
      'first-00000001',
      `litellm-${stored('sk-nameless-00003').token.slice(0, 8)}`,
    ])
    expect(before.sums.map(({ day, micros }) => [day, micros])).to.deep.equal([[0, 500_000]])
    expect((await imported()).report.keys).to.deep.include({ imported: 0, skipped: 3 })
    expect(await state()).to.deep.equal(before)
  })

  it('gives all models of a team to no key without one', async () => {
    theirs = await litellmTables(service.url)
    await theirs.add('TeamTable', { team_id: 'open', models: [] })
    await key('sk-of-no-team-0001', { models: ['all-team-models'] })
    await key('sk-of-no-team-0002', { models: ['all-team-models', 'claude'] })
    await key('sk-of-the-team-003', { models: ['all-team-models', 'claude'], team_id: 'open' })
    const { status, report, text } = await imported()
    expect(status, text).to.equal(0)
    expect(said(report)).to.include('changed LiteLLM_VerificationToken[of-no-team-0001].models')
    const gateway = await startImported(folder(), { withKey: false })
    try {
      const statuses = async (text: string) => [
        (await gateway.ask('gpt-4o', text)).status,
        (await gateway.ask('claude', text)).status,
      ]
      expect(await statuses('sk-of-no-team-0001')).to.deep.equal([403, 403])
      expect(await statuses('sk-of-no-team-0002')).to.deep.equal([403, 200])
      expect(await statuses('sk-of-the-team-003')).to.deep.equal([200, 200])
    } finally {
      await gateway.close()
    }
  })

  it('names the limits of shared budgets, teams and projects that are not kept', async () => {
    theirs = await litellmTables(service.url)
    await theirs.add('BudgetTable', {
      budget_id: 'b',
      max_budget: 1,
      soft_budget: 0.5,
      model_max_budget: { 'gpt-4o': 1 },
    })
    await theirs.add('TeamTable', { team_id: 'red', team_alias: 'Red', models: [], max_budget: 5, rpm_limit: 1 })
    await theirs.query('alter table "LiteLLM_ProjectTable" add column budget_id text')
    await theirs.add('ProjectTable', { project_id: 'p', team_id: 'red', models: [], budget_id: 'b' })
    await key('sk-shared-00000001', { budget_id: 'b', team_id: 'red', project_id: 'p' })
    const { status, report } = await imported()
    expect(status).to.equal(3)
    expect(said(report)).to.have.members([
      'changed LiteLLM_TeamTable[Red]',
      'lost LiteLLM_TeamTable[Red].max_budget',
      'lost LiteLLM_TeamTable[Red].rpm_limit',
      'changed LiteLLM_ProjectTable[p]',
      'lost LiteLLM_ProjectTable[p].budget_id',
      'lost LiteLLM_BudgetTable[b].soft_budget',
      'lost LiteLLM_BudgetTable[b].model_max_budget',
    ])
    expect(lessStrict()).to.include('TeamTable[Red].max_budget').and.include('BudgetTable[b].model_max')
  })

  it('names the limits and the guards that stand in the metadata of teams, projects and keys', async () => {
    theirs = await litellmTables(service.url)
    await theirs.query('alter table "LiteLLM_TeamTable" add column policies text[]')
    await theirs.query('alter table "LiteLLM_ProjectTable" add column metadata jsonb')
    const metadata = { model_rpm_limit: { 'gpt-5': 10 }, guardrails: ['pii'], team_member_budget_id: 'b', tags: [] }
    await theirs.add('TeamTable', { team_id: 'red', models: [], metadata, policies: ['strict'] })
    await theirs.add('TeamTable', { team_id: 'blue', models: [], metadata: { model_tpm_limit: {}, note: 'x' } })
    await theirs.add('ProjectTable', { project_id: 'p', models: [], metadata: { model_tpm_limit: { a: 1 } } })
    await key('sk-of-a-team-0001', { team_id: 'red', metadata: { policies: ['strict'] } })
    const { status, report } = await imported()
    expect(status).to.equal(3)
    expect(said(report)).to.have.members([
      'changed LiteLLM_TeamTable[red]',
      'lost LiteLLM_TeamTable[red].policies',
      'lost LiteLLM_TeamTable[red].metadata.model_rpm_limit',
      'lost LiteLLM_TeamTable[red].metadata.guardrails',
      'lost LiteLLM_TeamTable[red].metadata.team_member_budget_id',
      'changed LiteLLM_TeamTable[blue]',
      'changed LiteLLM_ProjectTable[p]',
      'lost LiteLLM_ProjectTable[p].metadata.model_tpm_limit',
      'lost LiteLLM_VerificationToken[of-a-team-0001].metadata.policies',
    ])
    expect(lessStrict()).to.include('TeamTable[red].metadata.guardrails').and.include('TeamTable[red].policies')
  })

  it('replaces its own report without --force, and no other', async () => {
    theirs = await litellmTables(service.url)
    await key('sk-first-00000001')
    const again = (...words: string[]) =>
      here.run('import', 'litellm', 'config.yaml', '--database', service.url, '--out', 'new', ...words)
    expect((await again()).status).to.equal(0)
    const second = await again()
    expect([second.status, second.out[1]]).to.deep.equal([
      0,
      '0 keys imported (0 of them disabled), 1 known already, 0 lost',
    ])
    const report = join(folder(), 'import-report.md')
    expect(readFileSync(report, 'utf8')).to.include('0 keys imported, 1 known already')
    await here.write('new/import-report.md', '# My notes\n')
    await key('sk-second-0000002')
    for (const words of [[], ['--dry-run']]) {
      const { status, error } = await again(...words)
      expect([status, ...error]).to.deep.equal([
        1,
        'sluice: import-report.md would be replaced; nothing was written. --force replaces',
      ])
    }
    expect(readFileSync(report, 'utf8')).to.equal('# My notes\n')
    expect((await again('--force')).out[1]).to.include('1 keys imported')
  })

  it('opens models and credentials that were sealed in either way, and names what it cannot open', async () => {
    theirs = await litellmTables(service.url)
    await theirs.add('CredentialsTable', {
      credential_id: 'c',
      credential_name: 'shared',
      credential_values: { api_key: sealed('sk-shared-canary') },
      credential_info: {},
    })
    await theirs.add('ProxyModelTable', {
      model_id: 'm1',
      model_name: 'boxed',
      litellm_params: { model: boxed['openai/gpt-4o-mini'], api_key: boxed['sk-from-the-database'] },
      model_info: { id: 'm1', db_model: true },
    })
    await theirs.add('ProxyModelTable', {
      model_id: 'm2',
      model_name: 'sealed',
      litellm_params: { model: sealed('groq/llama'), litellm_credential_name: sealed('shared') },
      model_info: {},
    })
    await theirs.add('ProxyModelTable', {
      model_id: 'm3',
      model_name: 'keyless',
      litellm_params: { model: 'openai/gpt-4.1', api_key: sealed('sk-keyless-canary') },
      model_info: {},
    })
    await key('sk-models-0000001', { models: ['boxed'] })
    const { status, report, text } = await imported([], { LITELLM_SALT_KEY: salt })
    expect(status, text).to.equal(0)
    const written = readFileSync(join(folder(), 'config/sluice.yaml'), 'utf8')
    expect(written + JSON.stringify(report)).to.not.match(/canary|sk-from/)
    expect(readFileSync(join(folder(), '.env'), 'utf8')).to.match(/=sk-from-the-database\n[\s\S]*=sk-shared-canary\n/)
    const gateway = await startImported(folder(), { withKey: false })
    try {
      expect((await gateway.ask('boxed', 'sk-models-0000001')).status).to.equal(200)
      expect((await gateway.upstream.received()).headers.authorization).to.equal('Bearer sk-from-the-database')
    } finally {
      await gateway.close()
    }
    const other = await imported([], { OTHER: 'another salt', LITELLM_SALT_KEY: 'wrong' })
    expect(other.status).to.equal(3)
    expect(said(other.report)).to.include.members([
      'lost LiteLLM_ProxyModelTable[m1].litellm_params.model',
      'lost LiteLLM_CredentialsTable[shared].credential_values.api_key',
    ])
    expect(readFileSync(join(folder(), 'config/sluice.yaml'), 'utf8')).to.include('enabled: false')
    expect((await here.run('--config', 'new/config/sluice.yaml', 'check')).status).to.equal(0)
  })

  it('leaves out models that are blocked or of one team, and says so', async () => {
    theirs = await litellmTables(service.url)
    const model = (id: string, name: string, blocked: boolean, info: object = {}) =>
      theirs.add('ProxyModelTable', {
        model_id: id,
        model_name: name,
        litellm_params: { model: `openai/${id}`, api_key: `sk-${id}-canary` },
        model_info: info,
        blocked,
      })
    await model('m1', 'closed', true)
    await model('m2', 'half', true)
    await model('m3', 'half', false)
    await model('m4', 'model_name_red_1', false, { team_id: 'red', team_public_model_name: 'ours' })
    await key('sk-models-0000003')
    await key('sk-models-0000002', { models: ['closed', 'half'] })
    const { status, report, text } = await imported([])
    expect(status, text).to.equal(3)
    const out = ['m1', 'm2', 'm4'].map((id) => `lost LiteLLM_ProxyModelTable[${id}]`)
    expect(said(report)).to.include.members(out)
    expect(readFileSync(join(folder(), '.env'), 'utf8')).to.equal('OPENAI_API_KEY=sk-m3-canary\n')
    const gateway = await startImported(folder(), { withKey: false })
    try {
      expect(gateway.models).to.deep.equal(['half'])
      expect((await gateway.ask('half', 'sk-models-0000002')).status).to.equal(200)
      for (const name of ['closed', 'model_name_red_1', 'ours'])
        expect((await gateway.ask(name, 'sk-models-0000003')).status, name).to.be.oneOf([403, 404])
    } finally {
      await gateway.close()
    }
  })

  it('reads the tables of early versions, which lack columns', async () => {
    theirs = await litellmTables(service.url, true)
    await theirs.add('VerificationToken', {
      token: stored('sk-early-00000001').token,
      models: ['gpt-4o'],
      rpm_limit: 5,
    })
    const { status, report, text } = await imported()
    expect(status, text).to.equal(0)
    expect(report.keys.imported).to.equal(1)
    const gateway = await startImported(folder(), { withKey: false })
    try {
      expect((await gateway.ask('gpt-4o', 'sk-early-00000001')).status).to.equal(200)
      expect((await gateway.ask('claude', 'sk-early-00000001')).status).to.equal(403)
    } finally {
      await gateway.close()
    }
  })

  it('refuses a database of LiteLLM as that of the gateway, and writes nothing', async () => {
    theirs = await litellmTables(service.url)
    await key('sk-stays-00000001')
    const other = new URL(service.url)
    other.searchParams.set('application_name', 'sluice')
    for (const url of [service.url, other.href]) {
      const { status, error } = await imported(['config.yaml'], { DATABASE_URL: url })
      expect(status).to.equal(2)
      expect(error.join('\n')).to.match(/^sluice: DATABASE_URL names a database of LiteLLM/)
    }
    const alone = await here.run(['import', 'litellm', 'config.yaml', '--out', 'new'], { DATABASE_URL: service.url })
    expect(alone.status).to.equal(2)
    expect(existsSync(folder())).to.equal(false)
    const { rows } = (await theirs.query(
      `select table_name from information_schema.tables where table_schema = 'public' and table_name not like 'LiteLLM%'`,
    )) as { rows: unknown[] }
    expect(rows).to.deep.equal([])
  })

  it('stores keys in PostgreSQL, in one transaction, and quotes no address of a database that does not answer', async function () {
    theirs = await litellmTables(service.url)
    await key('sk-postgres-00001', { max_budget: 1, spend: 2 })
    const own = await postgres(this)
    try {
      const { status, report, text } = await imported(['config.yaml'], {
        DATABASE_URL: own.url,
        SLUICE_SECRET: 'a-long-secret-of-the-test-0123456789abcdef',
      })
      expect(status, text).to.equal(0)
      expect(report.keys.imported).to.equal(1)
      const gateway = await startImported(folder(), { withKey: false, env: { DATABASE_URL: own.url } })
      try {
        expect((await gateway.ask('gpt-4o', 'sk-postgres-00001')).status).to.equal(429)
      } finally {
        await gateway.close()
      }
    } finally {
      await own.stop()
    }
    const { status, error } = await here.run(
      'import',
      'litellm',
      '--database',
      'postgres://user:canary@127.0.0.1:1/none',
      '--out',
      'other',
    )
    expect(status).to.equal(1)
    expect(error).to.deep.equal(['sluice: --database cannot be read: ECONNREFUSED'])
  })
})
