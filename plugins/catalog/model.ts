import { defineRecord } from '../../engine/index.ts'
import type { AllRecords, ModelRecord, Offer, RecordReport } from '../../engine/index.ts'
import { didYouMean, isPattern, isVirtual } from '../../engine/kit.ts'
import { checkFallbacks } from './fallbacks.ts'
import { modelSchema } from './model-schema.ts'
import type { Model } from './model-schema.ts'

declare module '../../engine/index.ts' {
  interface Records {
    model: Model
  }
}

export default defineRecord({
  name: 'model',
  summary: 'The models, each served by one provider.',
  place: 'models',
  schema: modelSchema,
  aliases: 'aliases',
  patterns: true,
  check(model, all, report) {
    checkNames(model, report)
    checkTier(model, report)
    checkPriceTiers(model, report)
    checkFallbacks(model, all, report)
    const offers = all.offers(model.provider)
    if (offers === undefined) return
    checkProtocols(model, offers, report)
    if (!isPattern(model.name)) checkAssumed(model, offers, all, report)
  },
})

function checkNames({ name, aliases }: Model, report: RecordReport): void {
  if (name.slice(0, -1).includes('*')) report(['name'], 'pattern', '"*" may stand at the end of a name only')
  const refuseVirtual = (word: string, path: (string | number)[]) => {
    if (isVirtual(word)) report(path, 'reserved', `"${word}" is a virtual model, so no model can have the name`)
  }
  refuseVirtual(name, ['name'])
  aliases.forEach((alias, at) => refuseVirtual(alias, ['aliases', at]))
}

/** Quality tiers of smart routing. */
const tiers = ['economy', 'balanced', 'premium']

function checkTier({ quality_tier: tier }: Model, report: RecordReport): void {
  if (tier !== undefined && !tiers.includes(tier))
    report(['quality_tier'], 'quality-tier', `"${tier}" counts as economy${didYouMean(tier, tiers)}`, 'warning')
}

/** Prices for long inputs that stand in another order than they are looked for. */
function checkPriceTiers({ pricing: { tiers: prices = [] } = {} }: Model, report: RecordReport): void {
  prices.forEach(({ above_input_tokens: above }, at) => {
    const before = prices[at - 1]?.above_input_tokens
    if (before === undefined || above > before) return
    report(
      ['pricing', 'tiers', at, 'above_input_tokens'],
      'tiers',
      `must be more than ${before}, as tiers are ascending`,
    )
  })
}

/** Reports protocols of a model that its provider does not speak. */
function checkProtocols({ provider, protocols = [] }: Model, offers: readonly Offer[], report: RecordReport): void {
  const spoken = [...new Set(offers.flatMap(({ protocol }) => protocol ?? []))]
  const told = spoken.length > 0 ? `it speaks ${spoken.join(', ')}` : 'it speaks none'
  protocols.forEach((protocol, at) => {
    if (spoken.includes(protocol)) return
    const message = `the provider "${provider}" does not speak "${protocol}": ${told}${didYouMean(protocol, spoken)}`
    report(['protocols', at], 'not-offered', message)
  })
}

/** Warns of missing fields for which requests must assume a value. */
function checkAssumed(model: Model, offers: readonly Offer[], all: AllRecords, report: RecordReport): void {
  for (const protocol of offers.flatMap((offer) => offer.protocol ?? [])) {
    if (model.protocols && !model.protocols.includes(protocol)) continue
    for (const [field, assumed] of Object.entries(all.codec(protocol)?.request?.assumes ?? {}))
      if (model[field as keyof ModelRecord] === undefined)
        report(['name'], 'assumed', `the model names no ${field}: ${assumed}`, 'warning')
  }
}
