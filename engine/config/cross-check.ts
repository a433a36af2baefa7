import { isVirtual } from '../spec/catalog.ts'
import type { Diagnostic } from './diagnostics.ts'
import { fitting } from '../spec/model-pattern.ts'
import type { Registry } from './registry.ts'
import type { SettingsFile } from './settings.ts'
import type { Path, Source } from './source.ts'
import { checkFallbacks } from './fallbacks.ts'
import { didYouMean } from './suggest.ts'

/** What a schema cannot say: names that are taken, names that nothing bears, and words that probably mean another. */
export function crossCheck(source: Source, file: SettingsFile, registry: Registry): Diagnostic[] {
  const diagnostics: Diagnostic[] = []
  const report = (path: Path, code: string, message: string) => diagnostics.push(source.report(path, code, message))
  const claim = (taken: Map<string, string>, name: unknown, owner: string, path: Path) => {
    if (typeof name !== 'string' || name === '') return
    const other = taken.get(name)
    if (other === undefined) taken.set(name, owner)
    else report(path, 'duplicate', `the name "${name}" is already taken by ${other}`)
  }
  const expectModel = (name: unknown, path: Path) => {
    if (typeof name !== 'string' || fitting(name, models.keys()) === undefined)
      expect(models.keys(), name, 'model named', 'unknown-model', path)
  }
  const expect = (known: Iterable<string>, name: unknown, what: string, code: string, path: Path) => {
    const words = [...known]
    if (typeof name === 'string' && !words.includes(name))
      report(path, code, `no ${what} "${name}"${didYouMean(name, words)}`)
  }

  const providers = new Map<string, string>()
  each(file.providers, ({ name }, index) =>
    claim(providers, name, `the provider number ${index + 1}`, ['providers', index, 'name']),
  )

  const models = new Map<string, string>()
  each(file.models, ({ name }, index) =>
    claim(models, name, `the model number ${index + 1}`, ['models', index, 'name']),
  )
  const refuseVirtual = (name: unknown, path: Path) => {
    if (typeof name === 'string' && isVirtual(name))
      report(path, 'reserved', `"${name}" is a virtual model, so no model can have the name`)
  }
  each(file.models, ({ name, aliases }, index) => {
    if (typeof name === 'string' && name.slice(0, -1).includes('*'))
      report(['models', index, 'name'], 'pattern', '"*" may stand at the end of a name only')
    refuseVirtual(name, ['models', index, 'name'])
    each(aliases, (alias, at) => refuseVirtual(alias, ['models', index, 'aliases', at]))
  })
  each(file.models, ({ name, aliases }, index) =>
    each(aliases, (alias, at) => claim(models, alias, `the model "${name}"`, ['models', index, 'aliases', at])),
  )
  each(file.models, (model, index) => {
    expect(providers.keys(), model.provider, 'provider named', 'unknown-provider', ['models', index, 'provider'])
    each(model.fallbacks, (name, at) => expectModel(name, ['models', index, 'fallbacks', at]))
    const tier = model.quality_tier
    if (typeof tier === 'string' && !tiers.includes(tier))
      diagnostics.push({
        ...source.report(
          ['models', index, 'quality_tier'],
          'quality-tier',
          `"${tier}" counts as economy${didYouMean(tier, tiers)}`,
        ),
        warning: true,
      })
    if (registry.incomplete) return
    each(model.protocols, (name, at) =>
      expect(registry.codecs.keys(), name, 'protocol named', 'unknown-protocol', ['models', index, 'protocols', at]),
    )
  })

  diagnostics.push(...checkFallbacks(source, file.models))

  const keys = new Map<string, string>()
  const texts = new Map<string, string>()
  each(file.api_keys, ({ name, key, models: allowed, expires_at }, index) => {
    claim(keys, name, `the API key number ${index + 1}`, ['api_keys', index, 'name'])
    const other = typeof key === 'string' && key !== '' ? texts.get(key) : undefined
    if (other !== undefined) report(['api_keys', index, 'key'], 'duplicate', `the API key "${other}" has the same text`)
    else texts.set(key, name)
    each(allowed, (model, at) => {
      if (typeof model !== 'string' || !isVirtual(model)) expectModel(model, ['api_keys', index, 'models', at])
    })
    if (typeof expires_at === 'string' && expires_at !== '' && !isMoment(expires_at))
      report(
        ['api_keys', index, 'expires_at'],
        'date',
        'must be a date or a date and time, such as 2027-01-31T12:00:00Z',
      )
  })
  return diagnostics
}

/** Qualities that smart routing tells apart. */
const tiers = ['economy', 'balanced', 'premium']

function each<T>(items: readonly T[] | undefined, visit: (item: T, index: number) => void): void {
  if (Array.isArray(items)) items.forEach((item: T, index) => item !== null && item !== undefined && visit(item, index))
}

/** A calendar date, alone or with a time and its zone (RFC 3339). */
export function isMoment(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.exec(text) ?? []
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  return date.getUTCDate() === Number(day) && !Number.isNaN(Date.parse(text))
}
