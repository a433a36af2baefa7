import type { Json } from '../../engine/index.ts'
import type { Draft } from './draft.ts'
import { tryAll } from './foreign.ts'
import { noTimeout, secondsAsDuration, textsIn } from './litellm-deployment.ts'
import { noGuard } from './litellm-guards.ts'
import type { LitellmModels } from './litellm-models.ts'
import { periodOf, readTimezone } from './period.ts'
import type { Report } from './report.ts'
import { at, flagOf, isEmpty, itemsOf, membersOf, numberOf, textOf } from './tree.ts'
import type { Node } from './tree.ts'

/** What settings are read with. */
export interface Reading {
  readonly draft: Draft
  readonly report: Report
  readonly models: LitellmModels
}

type Reader = (node: Node, reading: Reading) => void

/** A value, and the words for it if it is not kept exactly. */
type Converted = { readonly value: Json; readonly changed?: string } | undefined

/** A reader that sets a setting. A later place of the same setting in the file has no effect. */
function sets(path: string, convert: (node: Node) => Converted): Reader {
  return (node, { draft, report }) => {
    if (draft.isVariable(node)) return report.lost(node, `it stands in a variable; write ${path}`)
    if (path.startsWith('resilience.timeouts.') && numberOf(node) === 0) return report.default(node, noTimeout)
    const converted = convert(node)
    if (converted === undefined) return report.lost(node, 'has no value that can be kept')
    if (!draft.set(path, converted.value)) return report.default(node, 'another setting says it already')
    if (converted.changed === undefined) report.mapped(node, `server_config.${path}`)
    else report.changed(node, converted.changed, `server_config.${path}`)
  }
}

const loses =
  (advice: string, isLimit = false): Reader =>
  (node, { report }) =>
    report.lost(node, advice, isLimit ? 'limit' : undefined)
const changes =
  (advice: string): Reader =>
  (node, { report }) =>
    report.changed(node, advice)
const usual =
  (advice: string): Reader =>
  (node, { report }) =>
    report.default(node, advice)

const counted =
  (more: number, highest: number, least = 1) =>
  (node: Node): Converted => {
    const number = numberOf(node)
    if (number === undefined || number < 0) return undefined
    const wanted = Math.round(number) + more
    const value = Math.min(highest, Math.max(least, wanted))
    return value === wanted ? { value } : { value, changed: `${value} is the ${value === highest ? 'most' : 'least'}` }
  }
const seconds = (node: Node): Converted => {
  const value = secondsAsDuration(node)
  return value === undefined ? undefined : { value }
}

const rest = (node: Node): Converted => {
  const number = numberOf(node)
  return number !== undefined && number >= 0 && number < 0.01
    ? { value: '10ms', changed: '10ms is the least; resilience.breaker.enabled: false switches breakers off' }
    : seconds(node)
}

const strategies: Readonly<Record<string, readonly [strategy: string, changed?: string]>> = {
  'simple-shuffle': ['weighted'],
  'latency-based-routing': ['fastest'],
  'least-busy': ['least_busy'],
  'cost-based-routing': ['cheapest'],
  'usage-based-routing': ['least_busy', 'the place with the fewest requests under way goes first'],
  'usage-based-routing-v2': ['least_busy', 'the place with the fewest requests under way goes first'],
}

const tries = 'resilience.retries.tries'
const strategyPath = 'provider_selection.strategy'
const noTags = 'requests are not routed by tags; give the models names of their own'
const laterFallbacks = 'fallbacks are the same for every failure: models[].fallbacks'

const setRedis = 'set REDIS_URL, which every gateway reads'

/** The parts of the address of Redis. Those that all stand in the file make one in `.env`. */
function readRedis(section: Node | undefined, prefix: string, { draft, report }: Reading): void {
  const part = (name: string) => at(section, prefix + name)
  const names = ['host', 'port', 'password', 'username', 'db', 'ssl']
  const given = names.map(part).filter((node) => node !== undefined && !isEmpty(node)) as Node[]
  if (given.length === 0) return
  draft.variables.add('REDIS_URL')
  const host = textOf(part('host'))
  if (host === undefined || given.some((node) => draft.isVariable(node)))
    return given.forEach((node) => report.changed(node, setRedis, '.env.example'))
  const port = textOf(part('port')) ?? ''
  const isSealed = flagOf(part('ssl')) === true || host.startsWith('rediss:')
  const bare = host.replace(/^rediss?:\/\//, '')
  const url = URL.parse(`${isSealed ? 'rediss' : 'redis'}://${bare}`)
  const db = textOf(part('db')) ?? ''
  // A text that only stands for the address is none.
  if (url === null || bare.includes('://') || !/^(?:\d{1,5})?$/.test(port) || Number(port) > 65_535 || /\D/.test(db))
    return given.forEach((node) => report.changed(node, setRedis, '.env.example'))
  if (port !== '') url.port = port
  const [username, password] = [textOf(part('username')), textOf(part('password'))]
  if (username !== undefined) url.username = encodeURIComponent(username)
  if (password !== undefined) url.password = encodeURIComponent(password)
  if (db !== '') url.pathname = `/${db}`
  if (!draft.environment.has('REDIS_URL')) draft.environment.set('REDIS_URL', url.href)
  given.forEach((node) => report.mapped(node, '.env'))
}

/** `router_settings`, of which some may stand in `litellm_settings`, too. */
const router: Readonly<Record<string, Reader>> = {
  routing_strategy: sets(strategyPath, (node) => {
    const [value, changed] = strategies[textOf(node) ?? ''] ?? []
    return value === undefined ? undefined : { value, ...(changed === undefined ? {} : { changed }) }
  }),
  routing_strategy_args: loses('how places are chosen has no further settings'),
  num_retries: sets(tries, counted(1, 10)),
  max_retries: sets(tries, counted(1, 10)),
  retry_after: sets('resilience.retries.wait', seconds),
  timeout: sets('resilience.timeouts.total', seconds),
  request_timeout: sets('resilience.timeouts.total', seconds),
  stream_timeout: sets('resilience.timeouts.first_byte', seconds),
  allowed_fails: sets('resilience.breaker.failures', counted(1, 1_000_000)),
  cooldown_time: sets('resilience.breaker.open', rest),
  disable_cooldowns: (node, reading) => {
    if (flagOf(node) === false) return reading.report.default(node, 'breakers are on')
    sets('resilience.breaker.enabled', (one) => (flagOf(one) === true ? { value: false } : undefined))(node, reading)
  },
  fallbacks: readFallbacks,
  default_fallbacks: (node, reading) => textsIn(node).forEach(([name, one]) => defaultFallback(name, one, reading)),
  context_window_fallbacks: loses(laterFallbacks),
  content_policy_fallbacks: loses(laterFallbacks),
  model_group_alias: readAliases,
  enable_pre_call_checks: usual('models that cannot take a request are passed over'),
  retry_policy: loses('failures that are tried again: resilience.retries.on'),
  model_group_retry_policy: loses('failures that are tried again: resilience.retries.on'),
  allowed_fails_policy: loses('breakers count failures of every kind: resilience.breaker'),
  provider_budget_config: loses('providers have no budgets; rate_limits.budget.server limits the gateway', true),
  enable_tag_filtering: loses(noTags),
  tag_filtering_match_any: loses(noTags),
  optional_pre_call_checks: loses(
    'provider_selection.sticky keeps conversations at a place; prompts are marked for caches',
  ),
  default_max_parallel_requests: loses('rate_limits.server.concurrency limits the gateway', true),
  max_fallbacks: usual('as many fallbacks are tried as resilience.retries.tries says'),
  set_verbose: changes('set LOG_LEVEL, or server_config.logging.level'),
  debug_level: changes('set LOG_LEVEL, or server_config.logging.level'),
  redis_url: readRedisUrl,
  cache_responses: loses('answers are not cached; what providers cache is marked (request_policy.prompt_caching)'),
  cache_kwargs: loses('answers are not cached; what providers cache is marked (request_policy.prompt_caching)'),
  deployment_affinity_ttl_seconds: loses('provider_selection.sticky_ttl'),
  ignore_invalid_deployments: loses('"sluice check" tells of every mistake'),
}

/** Fallbacks: a list of `{ model: [others] }`, in which `*` is every model. */
function readFallbacks(node: Node, reading: Reading): void {
  for (const entry of itemsOf(node))
    for (const [name, others] of membersOf(entry))
      for (const one of itemsOf(others)) {
        const to = textOf(one)
        if (to === undefined) reading.report.lost(one, 'a fallback is the name of a model')
        else if (name === '*') defaultFallback(to, one, reading)
        else tellFallback(one, reading.models.fallback(name, to), reading)
      }
}

function tellFallback(node: Node, problem: string | undefined, { report }: Reading): void {
  if (problem === undefined) report.mapped(node, 'models[].fallbacks')
  else if (problem === '') report.default(node, 'the model is tried already')
  else report.lost(node, problem, 'client')
}

/** Fallbacks of every model go behind those of its own, when all are known. */
const defaultFallbacks = new WeakMap<Draft, (readonly [string, Node])[]>()

function defaultFallback(name: string, node: Node, { draft }: Reading): void {
  const known = defaultFallbacks.get(draft) ?? []
  known.push([name, node])
  defaultFallbacks.set(draft, known)
}

/** Adds the fallbacks of every model, and as many tries as the longest row of fallbacks needs. */
export function finishFallbacks(reading: Reading): void {
  const { draft, models, report } = reading
  for (const [name, node] of defaultFallbacks.get(draft) ?? []) {
    const problems = models.all.map((model) => models.fallback(model, name))
    const worst = problems.find((one) => one !== undefined && one !== '')
    if (worst === undefined) report.mapped(node, 'models[].fallbacks')
    else if (problems.includes(undefined)) report.changed(node, worst, 'models[].fallbacks')
    else report.lost(node, worst)
  }
  tryAll(1 + Math.max(0, ...models.all.map(({ fallbacks }) => fallbacks.length)), reading)
}

function readAliases(node: Node, { models, report }: Reading): void {
  for (const [alias, target] of membersOf(node)) {
    const model = target.kind === 'map' ? at(target, 'model') : target
    const hidden = at(target, 'hidden')
    const several = target.kind === 'list' && 'an alias is one model: give a model several deployments, or fallbacks'
    const problem = several || models.alias(alias, textOf(model) ?? '')
    if (problem === undefined && model) report.mapped(model, 'models[].aliases')
    else report.lost(model ?? target, problem ?? '', 'client')
    if (hidden && flagOf(hidden) === true)
      report.lost(hidden, 'lists of models have no aliases, and each alias can be used')
    else if (hidden) report.default(hidden, 'lists of models have no aliases')
  }
}

function readRedisUrl(node: Node, { draft, report }: Reading): void {
  const url = textOf(node) ?? ''
  if (draft.isVariable(node)) {
    draft.variables.add('REDIS_URL')
    return report.changed(node, setRedis, '.env.example')
  }
  draft.variables.add('REDIS_URL')
  if (!/^rediss?:\/\/./.test(url)) return report.changed(node, setRedis, '.env.example')
  draft.environment.set('REDIS_URL', url)
  report.mapped(node, '.env')
}

const endpoint = 'OTEL_EXPORTER_OTLP_ENDPOINT'
/** Callbacks with a place, what is said of them, and the variables that switch them on. */
const telemetry: Readonly<Record<string, readonly [advice: string, ...variables: string[]]>> = {
  prometheus: ['GET /metrics, with other names, for keys with metrics: true: docs/telemetry.md'],
  otel: [
    `set ${endpoint}, which switches traces on; they have no content unless traces.content says so: docs/telemetry.md`,
    endpoint,
  ],
  langfuse_otel: [
    `set ${endpoint} and OTEL_EXPORTER_OTLP_HEADERS to those of Langfuse, which switches traces on: docs/telemetry.md`,
    endpoint,
    'OTEL_EXPORTER_OTLP_HEADERS',
  ],
}
const noCallback = 'every request is in the request log; a plugin hears of it on diagnostics channels: docs/telling.md'

const callbacks: Reader = (node, { draft, report }) => {
  for (const [name, one] of textsIn(node)) {
    const [advice, ...variables] = (Object.hasOwn(telemetry, name) ? telemetry[name] : undefined) ?? []
    variables.forEach((variable) => draft.variables.add(variable))
    if (advice === undefined) report.lost(one, noCallback)
    else report.changed(one, advice, 'server_config.telemetry')
  }
}

const noCache = 'answers are not cached; what providers cache is marked (request_policy.prompt_caching)'
const cacheParams: Reader = (node, reading) => {
  readRedis(node, '', reading)
  for (const [name, one] of membersOf(node)) {
    if (isEmpty(one)) continue
    if (name === 'url' || name === 'redis_url') readRedisUrl(one, reading)
    else if (!reading.report.has(one)) reading.report.lost(one, noCache)
  }
}

const noEndUsers = 'whom a client names as its user has no limits; give people keys of their own'
const users = 'requests are told apart by their keys: give each user one, with tags'

const noLogs = usual('bodies are kept only if logging.capture says so')

const litellm: Readonly<Record<string, Reader>> = {
  ...router,
  drop_params: usual('translation drops and tells'),
  modify_params: usual('translation drops and tells'),
  max_budget: (node, reading) => readServerBudget(node, reading),
  budget_duration: () => undefined,
  default_key_generate_params: loses('give each key its limits, or set rate_limits.key_default', true),
  default_team_settings: loses('there are no teams; give keys tags, models and budgets'),
  default_internal_user_params: loses('members have defaults in rate_limits.member_default', true),
  default_team_params: loses('there are no teams; give keys tags, models and budgets', true),
  json_logs: changes('logs are JSON unless a terminal reads them'),
  telemetry: changes('nothing is sent to anybody'),
  timezone: readTimezone,
  store_audit_logs: usual('every change is in the audit trail'),
  turn_off_message_logging: noLogs,
  redact_messages_in_exceptions: noLogs,
  redact_user_api_key_info: noLogs,
  global_disable_no_log_param: noLogs,
  callbacks,
  success_callback: callbacks,
  failure_callback: callbacks,
  service_callback: callbacks,
  service_callbacks: callbacks,
  audit_log_callbacks: callbacks,
  callback_settings: loses(noCallback),
  otel: loses(`variables of the environment say what is traced: ${endpoint}, docs/telemetry.md`),
  cache: (node, { report }) =>
    flagOf(node) === false ? report.default(node, 'answers are not cached') : report.lost(node, noCache),
  cache_params: cacheParams,
  guardrails: loses(noGuard, true),
  ssl_verify: loses('certificates are always verified; NODE_EXTRA_CA_CERTS adds an authority'),
  vector_store_registry: loses('there are no vector stores; an MCP server may search'),
  search_tools: loses('there are no search tools; an MCP server may search'),
  prompts: loses('the stage prompt puts a text in front: docs/recipes'),
  mcp_aliases: loses('MCP servers have one name each'),
  public_model_groups: loses('there is no public list of models'),
  network_mock: loses('use a provider of type echo'),
  max_end_user_budget: loses(noEndUsers, true),
  max_end_user_budget_id: loses(noEndUsers, true),
  default_end_user_params: loses(noEndUsers, true),
  max_internal_user_budget: loses('members have defaults in rate_limits.member_default', true),
  internal_user_budget_duration: loses('members have defaults in rate_limits.member_default', true),
  max_ui_session_budget: usual('the console needs no key'),
  extra_spend_tag_headers: loses(users),
  user_header_name: loses(users),
  user_header_mappings: loses(users),
  disable_error_logs: loses('the request log is always kept, for logging.retention'),
  custom_provider_map: loses('a plugin may bring a type of providers: plugins/README.md'),
  log_level: changes('set LOG_LEVEL, or server_config.logging.level'),
  require_auth_for_metrics_endpoint: loses('GET /metrics is for keys with metrics: true: docs/telemetry.md'),
  force_ipv4: loses('addresses are chosen by the system'),
  enable_json_schema_validation: usual('bodies are validated'),
  check_provider_endpoint: changes('sync the list of a provider in the console'),
}

/** `max_budget` with the `budget_duration` beside it. */
function readServerBudget(node: Node, { draft, report }: Reading, duration?: Node): void {
  const usd = numberOf(node)
  if (usd === undefined || usd < 0) return report.lost(node, 'is no amount of money', 'limit')
  if (usd === 0) return [node, duration].forEach((one) => one && report.default(one, 'zero is no budget there'))
  const { period, told } = periodOf(textOf(duration))
  draft.set('rate_limits.budget.server', { usd: Math.min(1_000_000_000, Number(usd.toFixed(6))), period })
  // As before, a model without a price costs nothing.
  draft.set('rate_limits.budget.unknown_price', 'allow')
  report.mapped(node, 'server_config.rate_limits.budget.server')
  if (duration === undefined) return
  if (told === undefined) report.mapped(duration, 'server_config.rate_limits.budget.server.period')
  else report.changed(duration, told, 'server_config.rate_limits.budget.server.period', 'limit')
}

const concurrency = (path: string): Reader =>
  sets(path, (node) => {
    const most = numberOf(node)
    if (most === undefined || most < 1) return undefined
    const value = { concurrency: Math.min(1_000_000, Math.round(most)) }
    return most > 1_000_000 ? { value, changed: '1000000 is the most' } : { value }
  })

const members = 'members sign in with a password: docs/admin.md'
const adminAdvice = 'make an admin by the link that the gateway prints at its first start'

const general: Readonly<Record<string, Reader>> = {
  master_key: () => undefined,
  database_url: changes(
    "LiteLLM's database is not used; give it to --database once, and set DATABASE_URL to another one",
  ),
  database_connection_pool_limit: usual('connections are pooled'),
  database_connection_timeout: usual('connections are pooled'),
  allow_requests_on_db_unavailable: usual('keys are in memory'),
  store_model_in_db: changes('what is made at run time is always stored'),
  store_prompts_in_spend_logs: loses('set logging.capture to keep bodies'),
  maximum_spend_logs_retention_period: loses('set logging.retention'),
  maximum_spend_logs_retention_interval: loses('old rows are deleted once an hour: logging.retention'),
  disable_spend_logs: loses('the request log is always kept, for logging.retention'),
  global_max_parallel_requests: concurrency('rate_limits.server'),
  max_parallel_requests: concurrency('rate_limits.key_default'),
  max_request_size_mb: sets('request_policy.max_body_bytes', (node) => {
    const megabytes = numberOf(node)
    if (megabytes === undefined || megabytes <= 0) return undefined
    const wanted = Math.round(megabytes * 1_048_576)
    const value = Math.min(67_108_864, Math.max(1024, wanted))
    return value === wanted ? { value } : { value, changed: '64 MB is the most' }
  }),
  max_response_size_mb: loses('resilience.max_event_bytes bounds an event of an answer'),
  alerting: loses('watch GET /metrics: deploy/prometheus/rules.yaml'),
  alert_types: loses('watch GET /metrics: deploy/prometheus/rules.yaml'),
  alerting_threshold: loses('watch GET /metrics: deploy/prometheus/rules.yaml'),
  alerting_args: loses('watch GET /metrics: deploy/prometheus/rules.yaml'),
  pass_through_endpoints: loses('requests are not passed through; write a pipeline: docs/own-endpoint.md'),
  enable_jwt_auth: loses(members),
  litellm_jwtauth: loses(members),
  enable_oauth2_auth: loses(members),
  custom_auth: loses('a stage of your own may authenticate: plugins/README.md'),
  custom_sso: loses(members),
  ui_access_mode: loses(members),
  ui_username: loses(adminAdvice),
  ui_password: loses(adminAdvice),
  key_management_system: loses('the environment, or .env, has the secrets'),
  key_management_settings: loses('the environment, or .env, has the secrets'),
  use_azure_key_vault: loses('the environment, or .env, has the secrets'),
  use_google_kms: loses('the environment, or .env, has the secrets'),
  allowed_routes: loses('whoever has a key may ask every route of clients; a pipeline may refuse', true),
  allowed_ips: loses('a firewall or a proxy in front must limit addresses', true),
  enforce_user_param: loses('request_policy has rules for parameters', true),
  enforced_params: loses('request_policy has rules for parameters', true),
  health_check_interval: loses('breakers watch providers while requests run: resilience.breaker'),
  background_health_checks: loses('breakers watch providers while requests run: resilience.breaker'),
  completion_model: loses('clients name the model'),
  infer_model_from_keys: usual('the configuration names every model'),
  forward_client_headers_to_llm_api: loses('headers of clients are not passed on, but for those of their protocol'),
  proxy_batch_write_at: usual('rows are written at once'),
  proxy_budget_rescheduler_min_time: usual('budgets begin anew by the calendar'),
  proxy_budget_rescheduler_max_time: usual('budgets begin anew by the calendar'),
  disable_prisma_schema_update: usual('tables are migrated at the start'),
  custom_key_generate: loses('keys are made by the gateway'),
  use_redis_transaction_buffer: usual('rows are written in bulk'),
}

const sectionReaders: Readonly<Record<string, Readonly<Record<string, Reader>>>> = {
  router_settings: router,
  litellm_settings: litellm,
  general_settings: { ...litellm, ...general },
}

/** Reads a section of settings. */
export function readSection(name: string, section: Node | undefined, reading: Reading): void {
  const readers = sectionReaders[name] ?? {}
  const duration = at(section, 'budget_duration')
  const budget = at(section, 'max_budget')
  if (budget && !isEmpty(budget))
    readServerBudget(budget, reading, duration && !isEmpty(duration) ? duration : undefined)
  readRedis(section, 'redis_', reading)
  for (const [key, node] of membersOf(section)) {
    if (isEmpty(node)) reading.report.default(node, 'says nothing')
    else if (key === 'max_budget') continue
    else if (key === 'budget_duration') {
      if (!budget) reading.report.default(node, 'there is no budget')
    } else if (key.endsWith('_callback_params') || key.startsWith('langfuse_')) reading.report.lost(node, noCallback)
    else if (key.startsWith('upperbound_'))
      reading.report.lost(node, 'keys of members are bounded by those of the member', 'limit')
    else if (Object.hasOwn(readers, key)) readers[key]?.(node, reading)
  }
}

/** The strategy for models with several places, if the file does not say one: LiteLLM shuffles. */
export function finishStrategy({ draft }: Reading): void {
  if ([...draft.models.values()].some(({ places }) => places.length > 1)) draft.set(strategyPath, 'weighted')
}

/** Sections that stand for themselves. */
export const lostSections: Readonly<Record<string, Reader>> = {
  policies: loses(noGuard, true),
  policy_attachments: loses(noGuard, true),
  vector_store_registry: loses('there are no vector stores; an MCP server may search'),
  search_tools: loses('there are no search tools; an MCP server may search'),
  prompts: loses('the stage prompt puts a text in front: docs/recipes'),
  files_settings: loses('files are not stored'),
  finetune_settings: loses('fine-tuning is not served'),
  assistant_settings: loses('assistants are not served; use responses'),
  callback_settings: loses(noCallback),
  cache: loses(noCache),
  agent_list: loses('agents are not served'),
}
