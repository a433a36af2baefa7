import { defineStage } from '../../engine/index.ts'
import { asText, choicesIn, isSameModel, recordNamed } from '../../engine/kit.ts'
import type { Bill, Candidate, Given, Host, ModelRecord, Scope, Usage } from '../../engine/index.ts'
import { costOfAll, isPlausible, pricedAsInput } from './cost.ts'
import type { Use } from './cost.ts'
import { triesOf } from './prices.ts'

type Slots = Given<'outcome', 'model' | 'measurement' | 'request'>

/**
 * Computes usage, and its cost at the prices of the model that answered. A failed try whose provider reported usage
 * counts, too, at the prices of its own model. No other stage computes money.
 */
export default defineStage({
  name: 'price',
  summary: 'Compute usage and cost.',
  config: {
    type: 'object',
    additionalProperties: false,
    properties: {
      tokens: {
        enum: ['all', 'input', 'none'],
        default: 'all',
        description: 'What is billed: all tokens, the input alone, or nothing, whatever a provider does.',
      },
    },
  } as const,
  needs: ['outcome'],
  reads: ['request', 'model', 'measurement'],
  provides: ['bill'],
  pays: ['price'],
  build:
    ({ tokens }, host) =>
    (slots, scope) => ({ bill: billOf(slots, scope, { counted: tokens, host }) }),
})

const nothing: Usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }
const noOutput = { output: 0, outputAudio: 0, outputImage: 0, reasoning: 0 }
const unasked: Bill = { tokens: nothing, cost: { micros: 0, origin: 'unasked' } }
const free: Bill = { tokens: nothing, cost: { micros: 0, origin: 'reported' } }
const unknown: Bill = { tokens: undefined, cost: { micros: undefined, origin: 'unknown' } }

interface Billing {
  readonly counted: 'all' | 'input' | 'none'
  readonly host: Pick<Host, 'catalog' | 'codec' | 'upstreamCodec'>
}

function billOf({ outcome, request, model, measurement }: Slots, scope: Scope, { counted, host }: Billing): Bill {
  const tries = triesOf(scope)
  if (counted === 'none') return tries === undefined ? unasked : free
  // The usage was known only to the process that was lost.
  if (outcome.error?.code === 'worker_lost') return unknown
  const failed = tries?.used ?? none
  if (model === undefined) {
    if (tries === undefined) return unasked
    // What a try used that broke off, or that the client did not wait for, nobody knows.
    const isOpen = tries.open > 0
    if (failed.length > 0 && !(isOpen && outcome.error?.code === 'client_closed'))
      return sumOf(failed, 'reported', { counted, scope })
    return isOpen ? unknown : free
  }
  const metered = measurement?.read()
  if (metered === undefined) return unknown
  if (metered.unasked) return failed.length > 0 ? sumOf(failed, 'reported', { counted, scope }) : unasked
  const { usage, units, further } = metered
  const answered = answeredBy(metered.model, model, { request, host })
  const own = {
    usage: usage !== undefined && isPlausible(usage) ? usage : undefined,
    units,
    pricing: answered?.pricing,
  }
  if (answered?.listed !== undefined && own.usage?.cost === undefined) scope.note('listed_price', answered.listed.date)
  // A further model has a record of its own, which names the same provider.
  const beside = further?.map(({ model: name, usage: used }) => {
    return { usage: used, pricing: host.catalog.find(`${model.provider.name}/${name}`)?.pricing }
  })
  const origin = metered.estimated ? 'estimated' : 'reported'
  const bill = sumOf(failed.length === 0 ? [own] : [...failed, own], origin, { counted, scope }, beside)
  const isUnknown = bill.cost.micros === undefined && failed.length === 0
  const told = isUnknown && metered.cost !== undefined ? { ...bill, cost: costTold(metered.cost) } : bill
  return units ? { ...units, ...told } : told
}

const none: readonly Use[] = []

/** The record of the model that answered. Undefined: the client let the provider choose, and it chose one without a record. */
function answeredBy(
  name: string | undefined,
  candidate: Candidate,
  { request, host }: { readonly request: Slots['request']; readonly host: Billing['host'] },
): ModelRecord | undefined {
  const { model, offer } = candidate
  if (name === undefined || request === undefined || isSameModel(name, model.upstream_model)) return model
  const named = choicesIn(request, offer, host).filter(({ choice }) => choice.answers === true)
  if (named.length === 0) return model
  const one = named.map(({ value }) => asText(value)).find((each) => isSameModel(name, each)) ?? name
  return recordNamed(one, candidate, host.catalog)
}

/** What an upstream says that it costs, in USD, for a model that has no price here. */
function costTold(usd: number): Bill['cost'] {
  return { micros: Math.round(usd * 1e6), origin: 'reported' }
}

/**
 * The bill of several uses. Their tokens are known only if those of each use are.
 * @param beside uses that are billed, and whose tokens are no part of the answer's
 */
function sumOf(
  uses: readonly Use[],
  origin: Bill['cost']['origin'],
  { counted, scope }: Pick<Billing, 'counted'> & { readonly scope: Scope },
  beside: readonly Use[] = none,
): Bill {
  const all = beside.length === 0 ? uses : [...uses, ...beside]
  const asInput = pricedAsInput(all)
  if (asInput.length > 0) scope.note('priced_as_input', asInput)
  const micros = costOfAll(counted === 'input' ? all.map(ofInput) : all)
  let tokens = uses[0]?.usage
  for (let at = 1; at < uses.length; at++) {
    const usage = uses[at]?.usage
    tokens = tokens && usage && addedUp(tokens, usage)
  }
  return { tokens, cost: { micros, origin: micros === undefined ? 'unknown' : origin } }
}

function ofInput({ usage, ...others }: Use): Use {
  return { ...others, usage: usage && { ...usage, ...noOutput } }
}

function addedUp(one: Usage, other: Usage): Usage {
  const sum: Record<string, number> = { ...one }
  for (const [bucket, tokens] of Object.entries(other)) sum[bucket] = (sum[bucket] ?? 0) + Number(tokens)
  return sum as unknown as Usage
}
