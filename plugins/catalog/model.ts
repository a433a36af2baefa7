import { isDeepStrictEqual } from 'node:util'
import { defineRecord } from '../../engine/index.ts'
import type { AllRecords, Json, JsonObject, Offer, RecordReport } from '../../engine/index.ts'
import { didYouMean, isPattern, isVirtual, sourceFilter } from '../../engine/kit.ts'
import { checkDoubts } from './doubts.ts'
import { checkFallbacks } from './fallbacks.ts'
import { withListedPrice } from './listed-price.ts'
import { modelSchema } from './model-schema.ts'
import { placesIn } from './places.ts'
import { reservedNames } from './provider.ts'
import { always, showModel, shownFields } from './show-model.ts'
import { metadataFields } from './synced.ts'
import type { Model } from './model-schema.ts'

declare module '../../engine/index.ts' {
  interface Records {
    model: Model
  }
}

export default defineRecord({
  name: 'model',
  summary: 'The models, each served by one provider or several.',
  place: 'models',
  schema: modelSchema,
  aliases: 'aliases',
  patterns: true,
  switch: 'enabled',
  route: '/api/config/models',
  shows: shownFields,
  always,
  check(model, all, report) {
    checkNames(model, report)
    checkTier(model, report)
    checkPriceTiers(model, report)
    checkCachePrice(model, report)
    checkFallbacks(model, all, report)
    checkPlaces(model, report)
    checkDoubts(model, all, report)
    const offers = placesIn(model).map(({ provider }) => all.offers(provider))
    // An unknown provider is a finding of its own.
    if (!offers.every((known) => known !== undefined)) return
    checkProtocols(model, offers.flat(), report)
    if (!isPattern(model.name)) checkAssumed(model, offers.flat(), all, report)
  },
  show: showModel,
  complete: withListedPrice,
  lists: {
    filters: {
      provider: { accepts: 'text', values: ({ provider, deployments }) => [provider, ...providersOf(deployments)] },
      source: sourceFilter,
      auto_eligible: { accepts: 'boolean' },
      supports_mapeval: { accepts: 'boolean' },
      enabled: { accepts: 'boolean' },
    },
    sorts: ['name', 'provider', 'created_at'],
    searched: ({ name, display_name: title, aliases }) => [name, title, ...(aliases as readonly Json[])],
  },
  note(value, before, at) {
    const isNew = !isDeepStrictEqual(value['pricing'], before?.value['pricing'])
    const written = metadataFields.filter((field) => value[field] !== undefined)
    return { ...before?.notes, written, ...(isNew ? { priced_at: at } : {}) }
  },
})

function providersOf(deployments: Json | undefined): readonly (Json | undefined)[] {
  return (deployments as readonly JsonObject[]).map(({ provider }) => provider)
}

function checkNames({ name, aliases, upstream_model: upstream }: Model, report: RecordReport): void {
  if (name.slice(0, -1).includes('*')) report(['name'], 'pattern', '"*" may stand at the end of a name only')
  const refuseVirtual = (word: string, path: (string | number)[]) => {
    if (isVirtual(word)) report(path, 'duplicate', `"${word}" is a virtual model, so no model can have the name`)
  }
  refuseVirtual(name, ['name'])
  if (reservedNames.includes(name))
    report(['name'], 'reserved', `"${name}" is a part of addresses, so no model can have the name`, 'lenient')
  aliases.forEach((alias, at) => {
    refuseVirtual(alias, ['aliases', at])
    if (alias.includes('*'))
      report(['aliases', at], 'pattern', 'an alias is no pattern; "*" may stand at the end of a name only', 'lenient')
  })
  if (upstream?.includes('*') && !isPattern(name))
    report(
      ['upstream_model'],
      'pattern',
      'the provider gets the "*" as it is: only a name that ends in * fills it',
      'lenient',
    )
}

/** Quality tiers of smart routing. */
const tiers = ['economy', 'balanced', 'premium']

function checkTier({ quality_tier: tier }: Model, report: RecordReport): void {
  if (tier !== undefined && !tiers.includes(tier))
    report(['quality_tier'], 'quality-tier', `"${tier}" counts as economy${didYouMean(tier, tiers)}`, 'lenient')
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

/** Warns of tokens that would be billed as if no provider had cached them. */
function checkCachePrice({ pricing: { input = 0, output, cache_read: read } = {} }: Model, report: RecordReport): void {
  if (input > 0 && output !== undefined && read === undefined)
    report(
      ['pricing'],
      'assumed',
      'there is no price "cache_read": tokens that a provider reads from its cache cost the input price',
      'warning',
    )
}

/** Reports a model without a place, and places that stand there twice. */
function checkPlaces(model: Model, report: RecordReport): void {
  const places = placesIn(model)
  if (places.length === 0) report(['provider'], 'required', '"provider" is missing')
  const seen = new Set<string>()
  for (const { provider, upstreamModel, path } of places) {
    const place = JSON.stringify([provider, upstreamModel])
    if (seen.has(place)) report(path, 'deployment', 'the same place stands there already')
    seen.add(place)
  }
}

/** Reports protocols of a model that none of its providers speaks. */
function checkProtocols(model: Model, offers: readonly Offer[], report: RecordReport): void {
  const { protocols = [] } = model
  const providers = [...new Set(placesIn(model).map(({ provider }) => `"${provider}"`))]
  const [subject, verb, pronoun] =
    providers.length === 1
      ? [`the provider ${providers.join()}`, 'does not speak', 'it speaks']
      : [`none of the providers ${providers.join(', ')}`, 'speaks', 'they speak']
  const spoken = [...new Set(offers.flatMap(({ protocol }) => protocol ?? []))]
  const told = spoken.length > 0 ? `${pronoun} ${spoken.join(', ')}` : `${pronoun} none`
  protocols.forEach((protocol, at) => {
    if (spoken.includes(protocol)) return
    report(['protocols', at], 'not-offered', `${subject} ${verb} "${protocol}": ${told}${didYouMean(protocol, spoken)}`)
  })
}

/** Warns of missing fields for which requests must assume a value. */
function checkAssumed(model: Model, offers: readonly Offer[], all: AllRecords, report: RecordReport): void {
  for (const protocol of new Set(offers.flatMap((offer) => offer.protocol ?? []))) {
    if (model.protocols && !model.protocols.includes(protocol)) continue
    for (const [field, assumed] of Object.entries(all.codec(protocol)?.request?.assumes ?? {}))
      if (model[field as keyof Model] === undefined)
        report(['name'], 'assumed', `the model names no ${field}: ${assumed}`, 'warning')
  }
}
