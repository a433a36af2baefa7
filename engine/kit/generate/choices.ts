import { placesOf } from '../../spec/catalog.ts'
import type { Candidate, Catalog, ModelRecord } from '../../spec/catalog.ts'
import type { Choice } from '../../spec/pricing.ts'
import type { Host } from '../../spec/host.ts'
import { isObject } from '../../spec/json.ts'
import type { Json } from '../../spec/json.ts'
import type { Offer } from '../../spec/open-provider.ts'
import type { Envelope } from '../../spec/slots.ts'

/** A choice that a request makes. */
export interface Chosen {
  readonly choice: Choice
  /** Its place, such as `fallbacks[0].model`. */
  readonly param: string
  readonly value: Json
}

/** The models, tiers and paid extras that a body chooses of an offer, in the order of the declarations. */
export function choicesIn(
  { protocol, body }: Pick<Envelope, 'protocol' | 'body'>,
  offer: Offer,
  host: Pick<Host, 'codec' | 'upstreamCodec'>,
): readonly Chosen[] {
  const { choices = none } = host.codec(protocol)
  let found: Chosen[] | undefined
  const look = (all: readonly Choice[], takes?: Taking) => {
    for (const choice of all) {
      const steps = stepsOf(choice.path)
      // Most requests have none of these fields, and cost nothing more.
      if (!Object.hasOwn(body, steps[0] ?? '') || takes?.(choice) === false) continue
      for (const one of valuesAt(body, steps, ''))
        if (chooses(choice, one.value, one.beside)) (found ??= []).push({ choice, ...one })
    }
  }
  if (offer.protocol === protocol) {
    look(choices)
    look(offer.choices ?? none)
  } else look(choices, (choice) => isTaken(choice, offer, host))
  return found ?? none
}

const none: readonly never[] = []

type Taking = (choice: Choice) => boolean

/** Whether an offer of another protocol gets the field. */
function isTaken({ translated, chooses }: Choice, offer: Offer, host: Pick<Host, 'upstreamCodec'>): boolean {
  // A provider that answers in neutral form bills nobody by fields of a protocol.
  if (translated === undefined || offer.protocol === undefined) return false
  const { traits = {} } = host.upstreamCodec(offer.protocol)
  return (offer.traits?.[translated] ?? traits[translated]?.['default'] ?? chooses === 'tier') !== false
}

/** `tools[].type` is `tools`, every entry (an empty step), `type`. */
function stepsOf(path: string): readonly string[] {
  const known = steps.get(path)
  if (known) return known
  const made = path.split('.').flatMap((step) => (step.endsWith('[]') ? [step.slice(0, -2), ''] : [step]))
  steps.set(path, made)
  return made
}

/** The paths of declarations, whose number is small. */
const steps = new Map<string, readonly string[]>()

interface Found {
  readonly param: string
  readonly value: Json
  /** The object that has the field. */
  readonly beside: Json
}

function valuesAt(
  value: Json,
  [step, ...rest]: readonly string[],
  param: string,
  beside: Json = null,
): readonly Found[] {
  if (step === undefined) return [{ param, value, beside }]
  if (step === '')
    return Array.isArray(value)
      ? (value as readonly Json[]).flatMap((entry, at) => valuesAt(entry, rest, `${param}[${at}]`, beside))
      : []
  if (!isObject(value) || !Object.hasOwn(value, step)) return []
  return valuesAt(value[step] ?? null, rest, param === '' ? step : `${param}.${step}`, value)
}

function chooses({ chooses: what, values, free, billedBy }: Choice, value: Json, beside: Json): boolean {
  if (isEmpty(value, what) || (what === 'model' && typeof value !== 'string')) return false
  if (billedBy !== undefined && isObject(beside) && typeof beside[billedBy] === 'string') return false
  if (values !== undefined && !fits(value, values)) return false
  return free === undefined || !fits(value, free)
}

function isEmpty(value: Json, what: Choice['chooses']): boolean {
  if (value === null || value === false || value === '') return true
  if (Array.isArray(value)) return value.length === 0
  // An extra that is an empty object has its defaults: `google_search: {}` is a search.
  return what !== 'extra' && isObject(value) && Object.keys(value).length === 0
}

function fits(value: Json, words: readonly string[]): boolean {
  if (typeof value !== 'string') return false
  return words.some((word) => (word.endsWith('*') ? value.startsWith(word.slice(0, -1)) : value === word))
}

/** The record of a model that a request names as the provider of the candidate calls it. */
export function recordNamed(
  name: string,
  { model, provider }: Candidate,
  catalog: Pick<Catalog, 'find'>,
): ModelRecord | undefined {
  if (name === model.upstream_model) return model
  const record = catalog.find(`${provider.name}/${name}`)
  const isPlace =
    record && placesOf(record).some((one) => one.provider === provider.name && one.upstream_model === name)
  return isPlace ? record : undefined
}

/** Whether two names mean one model: a vendor before it or a date behind it makes no other one of it. */
export function isSameModel(one: string, other: string): boolean {
  return one === other || plain(one) === plain(other)
}

function plain(name: string): string {
  const own = name.slice(name.lastIndexOf('/') + 1).toLowerCase()
  return own.replace(/[-@](\d{4}-\d{2}-\d{2}|\d{8}|\d{4}|latest)$/, '')
}
