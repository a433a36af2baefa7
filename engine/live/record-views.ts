import { flat, leftOutLine, nested } from '../config/stored-records.ts'
import type { LeftOut } from '../config/stored-records.ts'
import type { CheckedRecord, RecordSet } from '../config/records.ts'
import type { Registry } from '../config/registry.ts'
import { secretNames, withoutSecrets } from '../config/secrets.ts'
import type { JsonObject } from '../spec/json.ts'
import type { AnyRecord, RecordAccess, RecordView } from '../spec/record.ts'
import type { StoredRecord } from '../store/records.ts'

/** The source of the views. */
export interface Shown {
  readonly records: RecordSet
  readonly registry: Registry
  readonly leftOut?: readonly LeftOut[]
}

/** The records of a configuration as stages see them. */
export function recordViews({ records, registry, leftOut = [] }: Shown): Pick<RecordAccess, 'types' | 'of' | 'find'> {
  const views = (type: string, wanted: (record: { readonly name: string }) => boolean) => [
    ...(records.get(type) ?? []).filter(wanted).map((record) => viewOf(record, registry)),
    ...leftOut
      .filter(({ stored }) => stored.type === type && wanted(stored))
      .map((one) => viewOfLeftOut(one, registry)),
  ]
  return {
    types: registry.records,
    of: (type) => views(type, () => true),
    find: (type, name) => views(type, (record) => record.name === name)[0],
  }
}

function viewOf({ type, name, value, given, off }: CheckedRecord, registry: Registry): RecordView {
  const place = given.source.report([...given.path, 'name'], '', '')
  return {
    type: type.name,
    name,
    ...shown(type, value, registry),
    source: given.stored ? 'database' : 'file',
    ...(given.stored ? { stored: stampsOf(given.stored) } : { declaredAt: { file: place.file, line: place.line } }),
    ...(off === undefined ? {} : { problem: `off: ${off}` }),
  }
}

function viewOfLeftOut(one: LeftOut, registry: Registry): RecordView {
  const { type, name, value = { name } } = one.stored
  const known = registry.records.get(type)
  return {
    type,
    name,
    ...(known ? shown(known, flat(known, value), registry) : { value: { name }, secrets: {} }),
    source: 'database',
    stored: stampsOf(one.stored),
    problem: leftOutLine(one),
  }
}

/**
 * A value without its secrets, and hints about the secrets. If it is unknown which fields are secret, only the name and
 * the type are shown.
 */
export function shown(type: AnyRecord, value: JsonObject, registry: Registry): Pick<RecordView, 'value' | 'secrets'> {
  const whole = nested(type, value)
  const named = secretNames(type, value, registry)
  if (named === undefined) return { value: { name: whole['name'] ?? null, type: whole['type'] ?? null }, secrets: {} }
  const { open, secrets } = withoutSecrets(whole, named)
  return { value: open, secrets: secretsTold(secrets) }
}

/** Hints about secrets, by dotted path. */
export function secretsTold(secrets: Readonly<Record<string, string>>): RecordView['secrets'] {
  const told = Object.entries(secrets).map(([path, text]) => {
    // Four characters of a short secret would reveal too much.
    const hint = text.length >= 16 ? text.slice(-4) : null
    return [path, { set: true as const, hint }] as const
  })
  return Object.fromEntries(told)
}

export function stampsOf({ version, createdAt, updatedAt }: StoredRecord): RecordView['stored'] & object {
  return { version, createdAt, updatedAt }
}
