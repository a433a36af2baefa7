import { GatewayError, defineService } from '../../engine/index.ts'
import type {
  AnyGuard,
  ModelRecord,
  Host,
  JsonObject,
  Principal,
  Records,
  Scope,
  ServiceConfiguration,
  ServiceHost,
  Services,
  ToldReply,
} from '../../engine/index.ts'
import { didYouMean, isObject, parseJson, refuseBeyond } from '../../engine/kit.ts'
import { GuardedExchange, outcomes } from './exchange.ts'
import type { CountedVerdict } from './exchange.ts'
import { Rule } from './rule.ts'
import { migrations } from './verdict-table.ts'
import type { TokenEntries, TokenTable } from './token-table.ts'
import { VerdictCounts } from './verdict-counts.ts'
import type { GuardFigures, VerdictDay } from './verdict-counts.ts'

/** Whom a request is from, and which guards it names itself. */
export interface Asking {
  readonly principal: Principal | undefined
  /** The value of the header `x-gateway-guards`. */
  readonly header: string | readonly string[] | undefined
}

/** The guards of a configuration. */
export interface Guards {
  /** Whether there are none, so that nothing has to be asked. */
  readonly isEmpty: boolean
  /** Whether some tell a further try what was wrong. */
  readonly hasFeedback: boolean
  /** Whether models name some. */
  readonly hasModels: boolean
  /** The guards of a request, in the order of their declaration. Throws `invalid_value` where its header names an unknown one. */
  of(asking: Asking): readonly Rule[]
  /** Guards that a key names, and that do not judge: each is turned off, or it does not exist. */
  missingOf(principal: Principal | undefined): readonly string[]
  /** The guards that a model names beside those. */
  ofModel(model: Pick<ModelRecord, 'name' | 'pattern'>, others: readonly Rule[]): readonly Rule[]
  find(name: string): Rule | undefined
  /** A guard that is not declared, to be tried. Throws what its creation would answer. */
  trial(fields: JsonObject): Rule
  /** What the guards of an exchange have in common. */
  exchangeOf(scope: Scope): GuardedExchange
  /** What tokens stand for in an exchange; undefined: no guard of it has judged, and it continues none. */
  tokensOf(scope: Scope): TokenTable | undefined
  /** The same, sealed, for whoever stores an answer of this owner; undefined: there is none. */
  sealedTokens(scope: Scope, owner: string): string | undefined
  /** Gives an exchange what was sealed with the answer that it continues. */
  recallTokens(scope: Scope, owner: string, sealed: string | undefined): void
  /**
   * Whether a log must not hold the request of an exchange that is about to answer: guards have not let it pass as it is,
   * or it has failed before they judged it.
   */
  withholds(told: Pick<ToldReply, 'scope' | 'slots' | 'reply'>): boolean
  /** Key of the hashes that masks show. */
  readonly hashKey: Buffer
  /** Every kind of guard, those of plugins among them. */
  readonly kinds: readonly AnyGuard[]
  /** Verdicts per day, of all processes. */
  verdicts(since: string): Promise<readonly VerdictDay[]>
  /** Figures of each guard since a day, of all processes. */
  figures(since: string): Promise<readonly GuardFigures[]>
}

declare module '../../engine/index.ts' {
  interface Services {
    guards: Guards
  }
}

/** Holds the guards of each configuration, and counts their verdicts. */
export default defineService({
  name: 'guards',
  summary: 'The guards that judge requests and answers, and figures of their verdicts.',
  uses: ['metrics'],
  migrations,
  open(host) {
    const hashKey = host.deriveKey('guards/hash')
    const counts = new VerdictCounts(host)
    const exchanges = new WeakMap<object, GuardedExchange>()
    const exchangeOf = (scope: Scope, count: (verdict: CountedVerdict) => void) => {
      let exchange = exchanges.get(scope)
      if (!exchange) exchanges.set(scope, (exchange = new GuardedExchange(scope, count)))
      return exchange
    }
    return {
      configure(_settings, { metrics }, configuration) {
        const count = counting(metrics, counts)
        const rules = rulesOf(configuration)
        const chosen = choosing(rules, configuration)
        const view: Guards = {
          ...chosen,
          find: (name) => rules.find((rule) => rule.name === name),
          trial: (fields) =>
            ruleOf(configuration.accept('guard', fields), configuration, { isDeclared: false, place: 0 }),
          exchangeOf: (scope) => exchangeOf(scope, count),
          tokensOf: (scope) => exchanges.get(scope)?.tokens,
          sealedTokens: (scope, owner) => sealedTokens(exchanges.get(scope)?.tokens, owner, host),
          recallTokens(scope, owner, sealed) {
            const entries = sealed === undefined ? [] : unsealedTokens(sealed, owner, host)
            if (entries.length > 0) exchangeOf(scope, count).tokens.add(entries)
          },
          withholds: (told) => withholds(told, exchanges.get(told.scope), chosen),
          hashKey,
          kinds: configuration.guards,
          verdicts: (since) => counts.days(since),
          figures: (since) => counts.figures(since),
        }
        return { view }
      },
      async admit({ type, after }) {
        const { config, allow_private: allowed } = after?.value ?? {}
        if (type !== 'guard' || !isObject(config)) return
        const url = typeof config['url'] === 'string' ? URL.parse(config['url']) : null
        if (url) await refuseBeyond(allowed === true ? 'private' : 'public', url, 'url')
      },
      close: () => counts.close(),
    }
  },
})

function withholds(
  { slots, reply }: Pick<ToldReply, 'slots' | 'reply'>,
  exchange: GuardedExchange | undefined,
  guards: Pick<Guards, 'of' | 'missingOf' | 'ofModel'>,
): boolean {
  const { request, principal, model } = slots
  if (exchange?.hides(model?.model.name) === true) return true
  if (reply.status < 400 || request === undefined) return false
  if (request.contentType !== 'application/json') return false
  const header = request.headers['x-gateway-guards']
  if (exchange?.isThrough !== true && isAwaited(principal, header, guards)) return true
  return modelsOf(slots).some((one) => exchange?.isThroughOf(one.name) !== true && guards.ofModel(one, []).some(hides))
}

/** The model of the last try, or those that would have been tried. */
function modelsOf({
  request,
  model,
  candidates,
}: ToldReply['slots']): readonly Pick<ModelRecord, 'name' | 'pattern'>[] {
  if (model) return [model.model]
  return candidates?.map((one) => one.model) ?? [{ name: request?.model ?? '' }]
}

/** Whether guards that could hide something would have judged a request. */
function isAwaited(
  principal: Principal | undefined,
  header: Asking['header'],
  guards: Pick<Guards, 'of' | 'missingOf'>,
): boolean {
  // Nobody knows what a guard that is not there would have hidden.
  if (guards.missingOf(principal).length > 0) return true
  try {
    return guards.of({ principal, header }).some(hides)
  } catch {
    // It names a guard that is not there, for which it was refused.
    return true
  }
}

/** Whether a guard may keep the text of a request from others. */
function hides(rule: Rule): boolean {
  return rule.action !== 'flag' && !rule.isShadow && rule.judgesRequests()
}

/** Only this owner's answers hold them. */
const contextOf = (owner: string) => `guard tokens ${owner}`

function sealedTokens(tokens: TokenTable | undefined, owner: string, { seal }: ServiceHost): string | undefined {
  if (tokens === undefined || tokens.size === 0) return undefined
  return seal(Buffer.from(JSON.stringify(tokens.entries())), contextOf(owner)).toString('base64')
}

function unsealedTokens(sealed: string, owner: string, { unseal }: ServiceHost): TokenEntries {
  const opened = unseal(Buffer.from(sealed, 'base64'), contextOf(owner))
  return opened ? (parseJson(opened.toString()) as TokenEntries) : []
}

function rulesOf(configuration: ServiceConfiguration): readonly Rule[] {
  return configuration.records
    .of('guard')
    .map((record, place) => ruleOf(record, configuration, { isDeclared: configuration.isDeclared(record), place }))
}

function ruleOf(
  record: Records['guard'],
  { guards, viewsOf }: ServiceConfiguration,
  { isDeclared, place }: { readonly isDeclared: boolean; readonly place: number },
): Rule {
  const kind = guards.find(({ name }) => name === record.kind)
  if (kind === undefined) throw new GatewayError('invalid_field', { param: 'kind', reason: 'is no kind of guards' })
  const bounds: Host['bounds'] = { reach: isDeclared || record.allow_private ? 'private' : 'public' }
  return new Rule(record, { kind, place, bounds, services: () => viewsOf(kind.uses) })
}

/** Says which guards judge a request. */
function choosing(
  rules: readonly Rule[],
  { records }: ServiceConfiguration,
): Pick<Guards, 'isEmpty' | 'hasFeedback' | 'hasModels' | 'of' | 'missingOf' | 'ofModel'> {
  const byName = new Map(rules.map((rule) => [rule.name, rule]))
  const ofModels = new Map(
    records.of('model').flatMap(({ name, guards = [] }) => {
      const own = rules.filter((rule) => guards.includes(rule.name))
      return own.length > 0 ? [[name, own] as const] : []
    }),
  )
  const usual = rules.filter(({ record }) => record.default)
  const ofPrincipals = new WeakMap<Principal, readonly Rule[]>()
  const ofPrincipal = (principal: Principal | undefined): readonly Rule[] => {
    const { guards } = principal ?? {}
    if (principal === undefined || guards === undefined) return usual
    let own = ofPrincipals.get(principal)
    if (!own) {
      const [on, off] = [new Set(guards.on), new Set(guards.off)]
      own = rules.filter(({ name, record }) => (record.default || on.has(name)) && !off.has(name))
      ofPrincipals.set(principal, own)
    }
    return own
  }
  return {
    isEmpty: rules.length === 0,
    hasFeedback: rules.some(({ record }) => record.feedback !== ''),
    hasModels: ofModels.size > 0,
    of({ principal, header }) {
      const own = ofPrincipal(principal)
      if (header === undefined) return own
      const named = namesIn(header)
      for (const name of named) if (!byName.has(name)) throw unknown(name, byName.keys())
      const all = new Set([...own, ...rules.filter(({ name }) => named.includes(name))])
      return rules.filter((rule) => all.has(rule))
    },
    missingOf: (principal) => principal?.guards?.on.filter((name) => !byName.has(name)) ?? none,
    ofModel: ({ name, pattern = name }, others) =>
      ofModels.get(pattern)?.filter((rule) => !others.includes(rule)) ?? none,
  }
}

const none: readonly never[] = []

/** Most names that a header may have. */
const mostNames = 32

function namesIn(header: string | readonly string[]): readonly string[] {
  const names = [header]
    .flat()
    .join(',')
    .split(',')
    .map((name) => name.trim())
  const given = names.filter((name) => name !== '')
  if (given.length <= mostNames) return given
  const param = 'x-gateway-guards'
  throw new GatewayError('invalid_value', { param, reason: `names more than ${mostNames} guards` }, { param })
}

function unknown(name: string, known: Iterable<string>): GatewayError {
  const shown = name.slice(0, 64)
  const param = 'x-gateway-guards'
  const reason = `names no guard "${shown}"${didYouMean(shown, known)}`
  return new GatewayError('invalid_value', { param, reason }, { param })
}

/** Counts a verdict for Prometheus, and for the figures per day. */
function counting(metrics: Services['metrics'], counts: VerdictCounts): (verdict: CountedVerdict) => void {
  const guard = { records: 'guard' } as const
  const side = ['input', 'output'] as const
  const requests = metrics.counter({
    name: 'sluice_guard_requests_total',
    help: 'Judgements of guards, by what followed.',
    labels: { guard, side, shadow: ['true', 'false'], outcome: outcomes },
  })
  const seconds = metrics.histogram({
    name: 'sluice_guard_seconds',
    help: 'Time that guards took to judge a request or an answer.',
    labels: { guard, side },
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  })
  return (verdict) => {
    const { shadow, outcome, milliseconds } = verdict
    const place = { guard: verdict.guard, side: verdict.side }
    if (metrics.enabled) {
      requests({ ...place, shadow: String(shadow), outcome }).add()
      seconds(place).observe(milliseconds / 1_000)
    }
    counts.add(verdict)
  }
}
