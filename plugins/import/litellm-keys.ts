import type { Budget, RateLimit } from '../../engine/index.ts'
import { isPattern } from '../../engine/kit.ts'
import { freeName } from './draft.ts'
import { isSaid, momentIn, numberIn, textIn, textsIn } from './litellm-database.ts'
import type { LitellmDatabase, Row } from './litellm-database.ts'
import type { TakenKey } from './keys.ts'
import type { Reading } from './litellm-settings.ts'
import { periodOf } from './period.ts'
import type { Place, Weight } from './report.ts'

/** Columns of a key without a place. */
const lostColumns: readonly (readonly [column: string, advice: string, weight?: Weight])[] = [
  ['soft_budget', 'budgets have no second amount'],
  ['soft_budget_cooldown', 'budgets have no second amount'],
  ['model_max_budget', 'keys have one budget for all models', 'limit'],
  ['budget_limits', 'keys have one budget', 'limit'],
  ['tpd_limit', 'limits have one period: rate_limit.period', 'limit'],
  ['aliases', 'aliases are the same for all keys: models[].aliases', 'client'],
  ['config', 'keys have no settings of their own'],
  ['permissions', 'keys have no permissions beside their models'],
  ['policies', 'name the guards of the key: guards', 'limit'],
  ['object_permission_id', 'list the servers of the key: mcp_servers'],
  ['router_settings', 'keys have no settings of their own'],
  ['budget_fallbacks', 'fallbacks are the same for every failure: models[].fallbacks'],
  ['auto_rotate', 'rotate keys with sluice key rotate'],
  ['access_group_ids', 'list the models of the key'],
]
const lostMetadata: readonly (readonly [field: string, advice: string, weight?: Weight])[] = [
  ['guardrails', 'name the guards of the key: guards', 'limit'],
  ['policies', 'name the guards of the key: guards', 'limit'],
  ['model_rpm_limit', 'keys have one limit for all models', 'limit'],
  ['model_tpm_limit', 'keys have one limit for all models', 'limit'],
  ['enforced_params', 'request_policy has rules for parameters', 'limit'],
  ['logging', 'keys have no callbacks of their own'],
]

/** Limits of what the keys of a team or a project may use together. */
const limitsOfGroups = [
  'max_budget',
  'soft_budget',
  'model_max_budget',
  'budget_limits',
  'budget_id',
  'rpm_limit',
  'tpm_limit',
  'max_parallel_requests',
  'tpd_limit',
  'team_member_budget_id',
] as const
/** What a team or a project has without a place, in columns or in its metadata. */
const lostOfGroups: typeof lostMetadata = [
  ...limitsOfGroups.map((column) => [column, 'there are no teams: give its keys budgets and limits', 'limit'] as const),
  ...lostMetadata,
]

const hashShape = /^[0-9a-f]{64}$/
/** The team of the sessions of LiteLLM's own pages. */
const ownTeam = 'litellm-dashboard'

/** Which models may be used, by their written names; undefined: all. */
type Allowed = ReadonlySet<string> | undefined

/** Reads the keys of a database. */
export class LitellmKeys {
  readonly #reading: Reading
  readonly #rows: LitellmDatabase['rows']
  readonly #now: number
  readonly #names = new Set<string>()

  constructor(reading: Reading, { rows }: LitellmDatabase, now: number) {
    this.#reading = reading
    this.#rows = rows
    this.#now = now
  }

  read(): readonly TakenKey[] {
    const order = (row: Row) => `${textIn(row, 'created_at') ?? ''} ${textIn(row, 'token') ?? ''}`
    return this.#rows.VerificationToken.filter((row) => textIn(row, 'team_id') !== ownTeam)
      .toSorted((one, other) => (order(one) < order(other) ? -1 : 1))
      .flatMap((row) => this.#keyOf(row) ?? [])
  }

  #keyOf(row: Row): TakenKey | undefined {
    const { report } = this.#reading
    const token = textIn(row, 'token') ?? ''
    const alias = textIn(row, 'key_alias')?.trim().replaceAll(/\s+/g, '-').slice(0, 250)
    const name = freeName(alias || `litellm-${token.slice(0, 8)}`, this.#names)
    const place = (column: string): Place => ({
      file: 'database',
      line: 0,
      path: `LiteLLM_VerificationToken[${name}].${column}`,
    })
    if (!hashShape.test(token)) {
      // The text of the key itself may stand there.
      const shown = alias ?? 'a key without a name'
      report.keys.lost.push(shown)
      report.lost(
        { file: 'database', line: 0, path: `LiteLLM_VerificationToken[${shown}]` },
        'its token is no hash: make a new key',
        'client',
      )
      return undefined
    }
    this.#names.add(name)
    const shared = this.#limitsRow(row) ?? {}
    const ofShared = `LiteLLM_BudgetTable[${textIn(row, 'budget_id') ?? ''}]`
    for (const [column, advice, weight] of lostColumns) {
      if (isSaid(row, column)) report.lost(place(column), advice, weight)
      if (isSaid(shared, column))
        report.lost({ file: 'database', line: 0, path: `${ofShared}.${column}` }, advice, weight)
    }
    for (const [field, advice, weight] of lostMetadata)
      if (isSaid(objectIn(row, 'metadata'), field)) report.lost(place(`metadata.${field}`), advice, weight)
    const models = this.#models(row, place)
    const rate = this.#rateLimit(row)
    const because = this.#disabledBecause(row, rate === 'none')
    const { budget, spent } = this.#budget(row, place)
    if (because !== undefined && because !== 'blocked') {
      report.keys.disabled.push(name)
      report.changed(place(because.column), because.advice, 'api_keys', 'client')
    }
    const expiresAt = momentIn(row, 'expires')
    const tags = this.#tags(row, place)
    const hasServers = this.#reading.draft.mcpServers.length > 0
    return {
      fields: {
        name,
        ...(models === undefined ? {} : { models: [...models] }),
        ...(budget === undefined ? {} : { budget }),
        ...(rate === undefined || rate === 'none' ? {} : { rateLimit: rate }),
        // Which servers a key might use stands in tables that are not read.
        ...(hasServers ? { mcpServers: [] } : {}),
        ...(Object.keys(tags).length === 0 ? {} : { tags }),
        ...(expiresAt === undefined ? {} : { expiresAt }),
        ...(because === undefined ? {} : { disabled: true }),
      },
      hash: token,
      hint: (textIn(row, 'key_name') ?? '').slice(-4),
      ...this.#previous(token, name),
      ...(spent === undefined ? {} : { spent }),
    }
  }

  /** The models that a key may use: by its list, its team, its user there, its project, its user and its organization. */
  #models(row: Row, place: (column: string) => Place): Allowed {
    const { ProjectTable: projects, UserTable: users, OrganizationTable: organizations } = this.#rows
    const { BudgetTable: budgets, TeamMembership: memberships } = this.#rows
    const team = this.#team(row)
    const ofTeam = this.#listed(textsIn(team, 'models'), place('team_id'))
    const listed = textsIn(row, 'models')
    const asTeam = listed.includes('all-team-models')
    if (asTeam && team === undefined)
      this.#reading.report.changed(
        place('models'),
        'it belongs to no team, so all-team-models are none',
        'api_keys',
        'client',
      )
    const own = asTeam && team ? ofTeam : this.#listed(listed, place('models'))
    const find = (rows: readonly Row[], column: string, from = row) => {
      const id = textIn(from, column)
      return id === undefined ? undefined : rows.find((one) => one[column] === id)
    }
    // As in LiteLLM, the list of a user binds the keys that belong to no team.
    const user = team === undefined ? find(users, 'user_id') : undefined
    const member = memberships.find(
      (one) => team !== undefined && one['team_id'] === team['team_id'] && one['user_id'] === textIn(row, 'user_id'),
    )
    const further = [
      textsIn(member && find(budgets, 'budget_id', member), 'allowed_models'),
      ...[find(projects, 'project_id'), user, find(organizations, 'organization_id')].map((one) =>
        textsIn(one, 'models'),
      ),
    ]
    return further.reduce<Allowed>(
      (allowed, list) => narrower(allowed, this.#listed(list, place('models'))),
      narrower(own, ofTeam),
    )
  }

  #listed(given: readonly string[], place: Place): Allowed {
    const { models, report } = this.#reading
    if (given.length === 0 || given.includes('all-proxy-models') || given.includes('*')) return undefined
    const found = new Set<string>()
    const missing: string[] = []
    for (const name of given) {
      if (name === 'no-default-models' || name === 'all-team-models') continue
      const group = models.group(name)
      const written = models.named(name)
      if (written !== undefined) found.add(written)
      group?.forEach((one) => found.add(one))
      if (written === undefined && group === undefined) missing.push(name)
    }
    if (missing.length > 0)
      report.changed(place, `models that are not there are left out: ${missing.join(', ')}`, 'api_keys', 'client')
    return found
  }

  #team(row: Row): Row | undefined {
    const id = textIn(row, 'team_id')
    return id === undefined ? undefined : this.#rows.TeamTable.find((team) => team['team_id'] === id)
  }

  #disabledBecause(row: Row, isWithoutRequests: boolean): 'blocked' | { column: string; advice: string } | undefined {
    const routes = textsIn(row, 'allowed_routes')
    const kind = textIn(row, 'key_type') ?? 'default'
    const project = this.#rows.ProjectTable.find((one) => one['project_id'] === textIn(row, 'project_id'))
    if (row['blocked'] === true || this.#team(row)?.['blocked'] === true || project?.['blocked'] === true)
      return 'blocked'
    const user = this.#rows.UserTable.find((one) => one['user_id'] === textIn(row, 'user_id'))
    // A directory (SCIM) has switched the user off, and all keys of that user with it.
    if (objectIn(user ?? {}, 'metadata')['scim_active'] === false) return 'blocked'
    const id = textIn(row, 'team_id')
    if (id !== undefined && this.#team(row) === undefined)
      return { column: 'team_id', advice: 'disabled: its team is gone, and with it what the key might use' }
    if (routes.some((route) => route !== 'llm_api_routes'))
      return { column: 'allowed_routes', advice: 'disabled: keys may ask every route of clients' }
    if (!['default', 'llm_api'].includes(kind))
      return { column: 'key_type', advice: 'disabled: it was no key for requests to models' }
    if (isWithoutRequests) return { column: 'rpm_limit', advice: 'disabled: it might send no request' }
    return undefined
  }

  #limitsRow(row: Row): Row | undefined {
    const id = textIn(row, 'budget_id')
    return id === undefined ? undefined : this.#rows.BudgetTable.find((one) => one['budget_id'] === id)
  }

  #budget(row: Row, place: (column: string) => Place): { budget?: Budget; spent?: NonNullable<TakenKey['spent']> } {
    const { report } = this.#reading
    const shared = this.#limitsRow(row)
    const from = numberIn(row, 'max_budget') === undefined ? shared : row
    const most = numberIn(from, 'max_budget')
    if (most === undefined) return {}
    const usd = Math.min(1_000_000_000, Math.max(0, Math.floor(most * 1_000_000 + 1e-6) / 1_000_000))
    const { period, told } = periodOf(textIn(from, 'budget_duration'))
    if (told !== undefined) report.changed(place('budget_duration'), told, 'api_keys', 'limit')
    const resets = momentIn(row, 'budget_reset_at') ?? momentIn(from, 'budget_reset_at')
    const spend = numberIn(row, 'spend') ?? 0
    const isOver = resets !== undefined && resets <= this.#now
    const micros = Math.round(spend * 1_000_000)
    return { budget: { usd, period }, ...(isOver || micros <= 0 ? {} : { spent: { micros, period } }) }
  }

  /** `none`: it may send nothing at all. */
  #rateLimit(row: Row): RateLimit | 'none' | undefined {
    const shared = this.#limitsRow(row)
    const of = (column: string) => numberIn(row, column) ?? numberIn(shared, column)
    const [requests, tokens, concurrency] = ['rpm_limit', 'tpm_limit', 'max_parallel_requests'].map(of)
    const given = Object.entries({ requests, tokens, concurrency }).filter(([, most]) => most !== undefined)
    if (given.length === 0) return undefined
    if (given.some(([, most = 0]) => most < 1)) return 'none'
    const bounded = given.map(([kind, most = 0]) => [
      kind,
      Math.min(Math.floor(most), kind === 'concurrency' ? 1e6 : 1e12),
    ])
    return { ...(Object.fromEntries(bounded) as Partial<RateLimit>), period: '60s' }
  }

  #tags(row: Row, place: (column: string) => Place): Readonly<Record<string, string>> {
    const { report } = this.#reading
    const named = { user: textIn(row, 'user_id'), team: textIn(row, 'team_id') }
    const own = Object.entries(named).filter((entry): entry is [string, string] => entry[1] !== undefined)
    const words = textsIn(objectIn(row, 'metadata'), 'tags')
    const tags = words.map(
      (word) => [`tag-${word.toLowerCase().replaceAll(/[^a-z0-9_.-]/g, '-')}`.slice(0, 64), 'true'] as const,
    )
    const all = new Map<string, string>([...own.map(([name, text]) => [name, text.slice(0, 256)] as const), ...tags])
    if (all.size > 16) report.changed(place('metadata.tags'), 'keys have at most 16 tags', 'api_keys[].tags')
    return Object.fromEntries([...all].slice(0, 16))
  }

  /** The text before the last rotation, as long as it counts. */
  #previous(token: string, name: string): Pick<TakenKey, 'previous'> {
    const earlier = this.#rows.DeprecatedVerificationToken.filter(
      (one) => one['active_token_id'] === token && hashShape.test(textIn(one, 'token') ?? ''),
    )
      .map((one) => ({ hash: textIn(one, 'token') ?? '', until: momentIn(one, 'revoke_at') ?? 0 }))
      .filter(({ until }) => until > this.#now)
      .toSorted((one, other) => other.until - one.until)
    const [latest, ...others] = earlier
    if (others.length > 0)
      this.#reading.report.lost(
        { file: 'database', line: 0, path: `LiteLLM_DeprecatedVerificationToken[${name}]` },
        'of earlier texts of a key, one counts',
        'client',
      )
    return latest === undefined ? {} : { previous: latest }
  }
}

function objectIn(row: Row, column: string): Row {
  const value = row[column]
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Row) : {}
}

/** The models that both lists allow. */
function narrower(one: Allowed, other: Allowed): Allowed {
  if (one === undefined || other === undefined) return one ?? other
  const covers = (list: ReadonlySet<string>, name: string) =>
    list.has(name) || [...list].some((wide) => isPattern(wide) && name.startsWith(wide.slice(0, -1)))
  return new Set([...[...one].filter((name) => covers(other, name)), ...[...other].filter((name) => covers(one, name))])
}

/** Tells what of the other tables is not kept. */
export function tellTables({ rows, counts }: LitellmDatabase, { report }: Reading): void {
  const table = (name: string): Place => ({ file: 'database', line: 0, path: `LiteLLM_${name}` })
  const users = rows.UserTable.length
  if (users > 0)
    report.lost(
      table('UserTable'),
      `${users} users: members sign in with a password (docs/admin.md); budgets of users are not kept`,
      'limit',
    )
  const organizations = rows.OrganizationTable.length
  if (organizations > 0)
    report.lost(table('OrganizationTable'), `${organizations} organizations: their budgets are not kept`, 'limit')
  for (const [name, number] of Object.entries({ ...counts, TeamMembership: rows.TeamMembership.length }))
    if (number > 0) report.lost(table(name), `${number} rows: their budgets and limits are not kept`, 'limit')
  for (const [name, list, ...names] of [
    ['TeamTable', rows.TeamTable, 'team_alias', 'team_id'],
    ['ProjectTable', rows.ProjectTable, 'project_alias', 'project_id'],
  ] as const)
    for (const row of list) {
      const path = `${name}[${names.map((column) => textIn(row, column)).find((text) => text !== undefined) ?? ''}]`
      report.changed(table(path), 'what it may use, and whether it is blocked, stands in its keys', 'api_keys')
      for (const [column, advice, weight] of lostOfGroups) {
        if (isSaid(row, column)) report.lost(table(`${path}.${column}`), advice, weight)
        if (isSaid(objectIn(row, 'metadata'), column)) report.lost(table(`${path}.metadata.${column}`), advice, weight)
      }
    }
  for (const row of rows.Config)
    if (isSaid(row, 'param_value'))
      report.lost(
        table(`Config[${textIn(row, 'param_name') ?? ''}]`),
        'settings of the database are not read; move them into the file',
      )
}
