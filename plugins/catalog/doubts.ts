import type { AllRecords, RecordReport } from '../../engine/index.ts'
import { isPattern } from '../../engine/kit.ts'
import { placesIn } from './places.ts'
import type { Model } from './model-schema.ts'

/** Prices below this many USD per million tokens are those of one token. */
const leastPrice = 0.001
/** A context of fewer tokens was meant in thousands; those of models for embeddings begin with 256. */
const leastContext = 256

/** Prices that are counted by tokens. */
const perMillion = [
  'input',
  'output',
  'cache_read',
  'cache_write',
  'cache_write_1h',
  'reasoning',
  'characters',
] as const

/** Warns of values of a model that its schema accepts, and that nobody means. */
export function checkDoubts(model: Model, all: AllRecords, report: RecordReport): void {
  checkPrices(model, report)
  checkContext(model, report)
  checkRouting(model, report)
  checkSessions(model, all, report)
  const twin = all
    .of('model')
    .find(({ name }) => name !== model.name && name.toLowerCase() === model.name.toLowerCase())
  const isSecond = twin && all.of('model').indexOf(twin) < all.of('model').indexOf(model)
  if (isSecond) report(['name'], 'duplicate', `differs from "${twin.name}" only in upper and lower case`, 'warning')
}

function checkPrices({ pricing = {}, context_length: context }: Model, report: RecordReport): void {
  const warn = (path: (string | number)[], message: string) =>
    report(['pricing', ...path], 'pricing', message, 'warning')
  for (const field of perMillion) {
    const price = pricing[field] ?? 0
    if (price > 0 && price < leastPrice)
      warn(
        [field],
        `is very low for a price in USD per million tokens; did you mean ${Number((price * 1_000_000).toPrecision(6))}?`,
      )
  }
  const { input, output, cache_read: cached, tiers = [] } = pricing
  if (input !== undefined && output !== undefined && output > 0 && output < input)
    warn(['output'], `is lower than the input price, ${input}; did you swap them?`)
  if (input !== undefined && cached !== undefined && cached > input)
    warn(['cache_read'], `is higher than the input price, ${input}; cached tokens usually cost less`)
  tiers.forEach(({ above_input_tokens: above }, at) => {
    if (context !== undefined && above >= context)
      report(
        ['pricing', 'tiers', at, 'above_input_tokens'],
        'tiers',
        `no input can be that long, because context_length is ${context}`,
        'warning',
      )
  })
}

function checkContext({ context_length: context, max_output_tokens: most }: Model, report: RecordReport): void {
  if (context === undefined) return
  if (context < leastContext)
    report(['context_length'], 'context', `is a number of tokens; did you mean ${context * 1000}?`, 'warning')
  else if (most !== undefined && most > context)
    report(
      ['max_output_tokens'],
      'context',
      `is more than context_length, ${context}, which has to hold input and output`,
      'warning',
    )
}

function checkRouting(model: Model, report: RecordReport): void {
  const { auto_eligible: eligible, routing_assignments: modes, name } = model
  const warn = (field: string, message: string) => report([field], 'routing', message, 'warning')
  if (eligible && isPattern(name))
    warn('auto_eligible', 'has no effect, because a name that ends in * stands for many models')
  if (eligible && modes?.length === 0) warn('routing_assignments', 'is empty, so no routing mode can choose the model')
  if (!eligible && modes !== undefined) warn('routing_assignments', 'has no effect without auto_eligible: true')
}

function checkSessions(model: Model, all: AllRecords, report: RecordReport): void {
  if (!model.supports_realtime) return
  const offers = placesIn(model).map(({ provider }) => all.offers(provider, true))
  if (offers.some((known) => known === undefined || known.some(({ operation }) => operation === 'realtime'))) return
  report(
    ['supports_realtime'],
    'not-offered',
    'has no effect, because none of its providers serves realtime sessions',
    'warning',
  )
}
