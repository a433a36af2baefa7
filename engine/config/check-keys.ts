import { isVirtual } from '../spec/catalog.ts'
import { unknownNames } from '../pipeline/named.ts'
import type { KnownNames } from '../pipeline/named.ts'
import type { Diagnostic } from './diagnostics.ts'
import type { SettingsFile } from './settings.ts'
import type { Path, Source } from './source.ts'

/** What a schema cannot say of API keys: names and texts that are taken, models that are not there, dates that are none. */
export function checkKeys(source: Source, file: SettingsFile, known: KnownNames): Diagnostic[] {
  const diagnostics: Diagnostic[] = []
  const report = (path: Path, code: string, message: string) => diagnostics.push(source.report(path, code, message))
  const names = new Map<string, number>()
  const texts = new Map<string, string>()
  each(file.api_keys, ({ name, key, models: allowed, expires_at }, index) => {
    const path = ['api_keys', index]
    const first = names.get(name)
    if (first !== undefined)
      report([...path, 'name'], 'duplicate', `the name "${name}" is already taken by the API key number ${first + 1}`)
    else if (typeof name === 'string' && name !== '') names.set(name, index)
    const other = typeof key === 'string' && key !== '' ? texts.get(key) : undefined
    if (other !== undefined) report([...path, 'key'], 'duplicate', `the API key "${other}" has the same text`)
    else texts.set(key, name)
    each(allowed, (model, at) => {
      if (typeof model !== 'string' || isVirtual(model)) return
      const place = { source, path: [...path, 'models', at] }
      diagnostics.push(...unknownNames([{ kind: 'model', name: model, place }], known))
    })
    if (typeof expires_at === 'string' && expires_at !== '' && !isMoment(expires_at))
      report([...path, 'expires_at'], 'date', 'must be a date or a date and time, such as 2027-01-31T12:00:00Z')
  })
  return diagnostics
}

function each<T>(items: readonly T[] | undefined, visit: (item: T, index: number) => void): void {
  if (Array.isArray(items)) items.forEach((item: T, index) => item !== null && item !== undefined && visit(item, index))
}

/** A calendar date, alone or with a time and its zone (RFC 3339). */
export function isMoment(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.exec(text) ?? []
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  return date.getUTCDate() === Number(day) && !Number.isNaN(Date.parse(text))
}
