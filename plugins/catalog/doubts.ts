import type { AllRecords, RecordReport } from '../../engine/index.ts'
import { isPattern } from '../../engine/kit.ts'
import { placesIn } from './places.ts'
import type { Model } from './model-schema.ts'

/** Prices below this many USD per million tokens are those of one token, or of a thousand. */
const leastPrice = { ofToken: 0.001, ofThousand: 0.005 }
/** Prices in USD from which on one of these was meant to be many. */
const mostPrice = { seconds: 0.1, images: 10, requests: 10, searches: 1 } as const
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
  checkPriceTiers(model, report)
  checkContext(model, report)
  checkRouting(model, report)
  for (const field of ['supports_realtime', 'supports_mapeval'] as const) checkServed(field, model, all, report)
  const twin = all
    .of('model')
    .find(({ name }) => name !== model.name && name.toLowerCase() === model.name.toLowerCase())
  const isSecond = twin && all.of('model').indexOf(twin) < all.of('model').indexOf(model)
  if (isSecond) report(['name'], 'duplicate', `differs from "${twin.name}" only in upper and lower case`, 'warning')
}

function checkPrices({ pricing = {} }: Model, report: RecordReport): void {
  const warn = (path: string[], message: string) => report(['pricing', ...path], 'pricing', message, 'warning')
  for (const field of perMillion) {
    const price = pricing[field] ?? 0
    if (price === 0 || price >= leastPrice.ofThousand || (price >= leastPrice.ofToken && field.startsWith('cache')))
      continue
    const meant = Number((price * (price < leastPrice.ofToken ? 1_000_000 : 1_000)).toPrecision(6))
    warn([field], `is very low for a price in USD per million tokens; did you mean ${meant}?`)
  }
  for (const [field, most] of Object.entries(mostPrice) as [keyof typeof mostPrice, number][])
    if ((pricing[field] ?? 0) >= most) warn([field], `is the price of one in USD, and very high`)
  const { input, output, cache_read: cached, cache_write: written, cache_write_1h: longer } = pricing
  if (input !== undefined && output !== undefined && output > 0 && output < input)
    warn(['output'], `is lower than the input price, ${input}; did you swap them?`)
  if (input !== undefined && cached !== undefined && cached > input)
    warn(['cache_read'], `is higher than the input price, ${input}; cached tokens usually cost less`)
  if (written !== undefined && longer !== undefined && longer < written)
    warn(['cache_write_1h'], `is lower than cache_write, ${written}; tokens that are kept longer usually cost more`)
}

function checkPriceTiers({ pricing = {}, context_length: context }: Model, report: RecordReport): void {
  pricing.tiers?.forEach(({ above_input_tokens: above, ...prices }, at) => {
    const warn = (path: string[], code: string, message: string) =>
      report(['pricing', 'tiers', at, ...path], code, message, 'warning')
    if (context !== undefined && above >= context)
      warn(['above_input_tokens'], 'tiers', `no input can be that long, because context_length is ${context}`)
    if (Object.values(prices).every((price) => price === undefined)) warn([], 'tiers', 'has no price')
    for (const field of ['input', 'output'] as const)
      if ((prices[field] ?? Infinity) < (pricing[field] ?? 0))
        warn([field], 'pricing', `is lower than the price of shorter inputs, ${pricing[field]}`)
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

/** The operation that a flag speaks of, with its title in findings. */
const flagged = {
  supports_realtime: { operation: 'realtime', title: 'realtime sessions' },
  supports_mapeval: { operation: 'decide', title: 'decisions' },
}

function checkServed(field: keyof typeof flagged, model: Model, all: AllRecords, report: RecordReport): void {
  if (!model[field]) return
  const { operation, title } = flagged[field]
  const offers = placesIn(model).map(({ provider }) => all.offers(provider, true))
  if (offers.some((known) => known === undefined || known.some((offer) => offer.operation === operation))) return
  report([field], 'not-offered', `has no effect, because none of its providers serves ${title}`, 'warning')
}
