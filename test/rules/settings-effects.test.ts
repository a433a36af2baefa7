import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { sectionsSchema } from '../../engine/records/sections.ts'
import { registry } from './registry.ts'
import { root } from './sources.ts'

const own = 'service/settings-effects'
const policy = 'service/request-policy'
const cors = 'engine/http/cors'
const resilience = 'service/resilience'
const files = 'service/inline-files'

/** The test that shows the effect of each setting: its file and its title, as they are written there. */
const shown: Readonly<Record<string, readonly [file: string, title: string]>> = {
  ...holder('server', 'rate_limits.server'),
  ...holder('key_default', 'rate_limits.key_default'),
  ...holder('member_default', 'rate_limits.member_default'),
  'rate_limits.refused_per_address.requests': [
    'plugins/limits/refused-keys',
    'answers 429 to unknown keys of an address that sent too many, and still serves known ones',
  ],
  'rate_limits.refused_per_address.period': [
    'plugins/limits/refused-keys',
    'answers 429 to unknown keys of an address that sent too many, and still serves known ones',
  ],
  'rate_limits.count_cache_reads': [own, 'count_cache_reads: whether they count towards tokens'],
  'rate_limits.assumed_output_tokens': [own, 'assumed_output_tokens: what a request without a maximum reserves'],
  'rate_limits.headers': ['plugins/limits/limit', 'shows no headers if the operator does not want them'],
  'rate_limits.on_store_failure': [
    'plugins/limits/failover-counters',
    'admits nothing, or everything, if the operator wants that',
  ],
  'rate_limits.budget.unknown_price': [
    'plugins/limits/reserve',
    'refuses models without a price where a budget applies, or lets them cost nothing',
  ],

  'resilience.max_event_bytes': [
    'service/upstream-bytes',
    'ends with an error when it is an event that has to be read',
  ],
  'resilience.timeouts.connect': [own, 'timeouts.connect: a provider that takes a connection, and says nothing'],
  'resilience.timeouts.first_byte': [
    'service/timeouts',
    'say the settings, before them the pipeline, and before it the provider',
  ],
  'resilience.timeouts.idle': [own, 'timeouts.idle: a stream that falls silent'],
  'resilience.timeouts.total': [own, 'timeouts.total: an answer that never comes'],
  'resilience.cooldown': ['service/provider-keys', 'lets a busy key rest, and uses another one for the same request'],
  'resilience.retries.tries': [resilience, 'as often as the settings say, and not beyond what a pipeline writes'],
  'resilience.retries.on': [resilience, 'as often as the settings say, and not beyond what a pipeline writes'],
  'resilience.retries.wait': [own, 'retries.wait: how long a further try waits at most'],
  'resilience.retries.wait_max': [own, 'retries.wait_max: a longer wait is not waited for'],
  'resilience.retries.budget': [own, 'retries.budget: the share of requests that may be tried again'],
  'resilience.retries.budget_floor': [resilience, 'retries at least as often as the floor says'],
  'resilience.fallbacks': [resilience, 'no fallback where fallbacks are switched off'],
  'resilience.breaker.enabled': [resilience, 'retries a fifth of the requests'],
  'resilience.breaker.failures': [
    'service/selection',
    'may be another one at the same provider, which is asked although the first one has opened the breaker',
  ],
  'resilience.breaker.ratio': [own, 'breaker.ratio and breaker.minimum: how many of how many open it'],
  'resilience.breaker.minimum': [own, 'breaker.ratio and breaker.minimum: how many of how many open it'],
  'resilience.breaker.window': [own, 'breaker.window: for how long a failure counts'],
  'resilience.breaker.open': [resilience, 'longer after a probe that failed'],
  'resilience.breaker.open_max': [own, 'breaker.open_max: how long it is open at most'],
  'resilience.breaker.per': [resilience, 'for all its models where the settings say so'],

  'provider_selection.strategy': ['service/selection', 'is the cheapest one'],
  'provider_selection.sticky': [
    'service/selection',
    'stays the same for a key where the settings say so, and for nobody without a shared store',
  ],
  'provider_selection.sticky_ttl': [own, 'provider_selection.sticky_ttl: how long a conversation stays'],
  'provider_selection.prefer': ['service/selection', 'may be preferred or avoided'],
  'provider_selection.avoid': ['service/selection', 'may be preferred or avoided'],

  'request_policy.stored_responses.bytes': ['service/responses-storage', 'is so many bytes'],
  'request_policy.stored_responses.count': [
    'service/responses-storage',
    'is so many responses; one that is deleted makes room',
  ],
  'request_policy.stored_responses.background': [
    'service/responses-storage',
    'is so many responses in the background that have not ended',
  ],
  'request_policy.default_max_output_tokens': [
    policy,
    'fills in and lowers the maximum of output tokens, in the words of each protocol',
  ],
  'request_policy.max_output_tokens': [
    policy,
    'fills in and lowers the maximum of output tokens, in the words of each protocol',
  ],
  'request_policy.deny_parameters': [
    policy,
    'rejects fields, and more tools or messages than allowed, before anybody is asked',
  ],
  'request_policy.drop_parameters': [policy, 'drops, fills in and overrides fields'],
  'request_policy.default_parameters': [policy, 'drops, fills in and overrides fields'],
  'request_policy.override_parameters': [policy, 'drops, fills in and overrides fields'],
  'request_policy.end_user': [policy, 'hides the names of end users, or hashes them always in the same way'],
  'request_policy.allow_background': [policy, 'allows neither background responses nor storage, if it says so'],
  'request_policy.allow_store': [policy, 'allows neither background responses nor storage, if it says so'],
  'request_policy.max_tools': [
    policy,
    'rejects fields, and more tools or messages than allowed, before anybody is asked',
  ],
  'request_policy.max_messages': [
    policy,
    'rejects fields, and more tools or messages than allowed, before anybody is asked',
  ],
  'request_policy.max_body_bytes': ['service/max-body', 'is limited by request_policy.max_body_bytes'],
  'request_policy.answer_model': ['service/answer-model', 'of embeddings and decisions, too'],
  'request_policy.lost_content': ['service/lost-content', 'puts a text in its place, where that is set'],
  'request_policy.prompt_caching': [
    'service/prompt-caching',
    'marks every long prompt, or none, where that is set, and never one of the protocol itself',
  ],

  'security.trusted_proxies': ['engine/http/client-address', 'is what stages see'],
  'security.reveal_keys': [
    'admin/providers/actions',
    'show no secret whose row cannot be written, or where the setting is off',
  ],
  'security.self_service_keys': ['admin/api-keys/own', 'are off unless the setting is on'],
  'security.max_keys_per_member': ['admin/api-keys/own', 'counts the living keys, however many are asked for at once'],
  'security.max_key_life': ['admin/api-keys/own', 'takes what is within'],
  'security.password_min_length': [own, 'security.password_min_length: what a password must have'],
  'security.session_idle': ['admin/members/sessions', 'that are lowered end older sessions at once'],
  'security.session_max': ['admin/members/sessions', 'that are lowered end older sessions at once'],
  'security.file_urls.fetch': [files, 'are fetched as the settings say'],
  'security.file_urls.allow_private': [files, 'are fetched as the settings say'],
  'security.file_urls.max_bytes': [files, 'are fetched as the settings say'],
  'security.file_urls.timeout': [files, 'are fetched as the settings say'],

  'logging.level': [own, 'logging.level: what the process logs'],
  'logging.capture': ['admin/logs/capture', 'are those of failed requests alone, if so set'],
  'logging.capture_max_bytes': ['admin/logs/capture', 'are cut where they are too long'],
  'logging.capture_retention': [
    'admin/logs/cleanup',
    'happens by itself after the times of the settings, from the first request on, in one process',
  ],
  'logging.retention': [
    'admin/logs/cleanup',
    'happens by itself after the times of the settings, from the first request on, in one process',
  ],
  'logging.headers': [
    'admin/logs/detail',
    'shows a request that a second provider served, with every try and every run of a stage',
  ],
  'logging.client_address': [
    'admin/logs/detail',
    'shows a request that a second provider served, with every try and every run of a stage',
  ],

  'keepalive.sse_interval': ['service/keepalive', 'keeps the official clients waiting'],
  'keepalive.websocket_ping': ['service/connections', 'ping sockets each websocket_ping'],
  'keepalive.connection_idle': [
    'service/connections',
    'close idle connections of clients after connection_idle, from the next request on',
  ],
  'keepalive.tcp_delay': ['service/connections', 'probe silent connections of clients after tcp_delay'],
  'keepalive.upstream_idle': ['service/connections', 'close idle connections to providers after upstream_idle'],

  'cors.origins': [cors, 'get the answers and the errors of a gateway that lets them in, and may read its headers'],
  'cors.admin_origins': [cors, 'ask before, and no stage hears of it'],
  'cors.credentials': [cors, 'are all let in by "*", or with credentials by their names'],
  'cors.max_age': [cors, 'ask before, and no stage hears of it'],
  'cors.allow_headers': [cors, 'ask before, and no stage hears of it'],
  'cors.expose_headers': [
    cors,
    'get the answers and the errors of a gateway that lets them in, and may read its headers',
  ],

  'web_search.mode': ['service/web-search', 'is taken out on every way when it is off'],
  'web_search.allowed_domains': [
    'service/web-search',
    'is held to the domains, the size and the number that are set, on every way',
  ],
  'web_search.blocked_domains': [
    'service/web-search',
    'names no domain as blocked that lies outside of those that are set',
  ],
  'web_search.context_size': [
    'service/web-search',
    'is held to the domains, the size and the number that are set, on every way',
  ],
  'web_search.max_uses': [
    'service/web-search',
    'is held to the domains, the size and the number that are set, on every way',
  ],
}

/** Settings of limits and of budgets that have one test for all of their kind, in a loop. */
function holder(name: string, path: string): Record<string, readonly [string, string]> {
  const rates = '${name}: requests, tokens and period'
  const budget = 'budget.${name}: usd and period'
  return {
    [`${path}.requests`]: [own, rates],
    [`${path}.tokens`]: [own, rates],
    [`${path}.period`]: [own, rates],
    [`${path}.concurrency`]: [own, '${name}: concurrency'],
    [`rate_limits.budget.${name}.usd`]: [own, budget],
    [`rate_limits.budget.${name}.period`]: [own, budget],
  }
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
}

/** The paths of all fields below a schema that have none below themselves. */
function leaves({ properties }: Schema, path: string): readonly string[] {
  if (!properties) return [path]
  return Object.entries(properties).flatMap(([name, below]) => leaves(below, `${path}.${name}`))
}

describe('settings', () => {
  const sections = [
    'rate_limits',
    'resilience',
    'provider_selection',
    'request_policy',
    'security',
    'logging',
    'keepalive',
    'cors',
    'web_search',
  ]

  it('have an effect each, which a test shows', async () => {
    const { properties = {} } = sectionsSchema((await registry()).services) as Schema
    const fields = sections.flatMap((section) => leaves(properties[section] ?? {}, section))
    expect(fields).to.have.length.above(80)
    expect(Object.keys(shown)).to.have.members(fields)
  })

  it('are in tests that are there, and write their names', async () => {
    for (const [path, [file, title]] of Object.entries(shown)) {
      const text = await readFile(join(root, 'test', `${file}.test.ts`), 'utf8')
      const quoted = ["'", '`'].map((quote) => `it(${quote}${title}${quote},`)
      expect(
        quoted.some((start) => text.includes(start)),
        `${path}: ${file}: ${title}`,
      ).to.equal(true)
      expect(text, `${path}: ${file}`).to.include(path.split('.').at(-1))
    }
  })
})
