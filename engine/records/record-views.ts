import { flat, leftOutLine, nested } from './stored-records.ts'
import type { LeftOut } from './stored-records.ts'
import type { CheckedRecord, RecordSet } from './records.ts'
import type { Registry } from '../config/registry.ts'
import type { Settings } from '../config/settings.ts'
import { validator } from '../config/validate.ts'
import { secretNames, withoutSecrets } from './secrets.ts'
import { nowhere } from './sections.ts'
import { recordsAround } from './records.ts'
import { namesOf as namesIn } from './record-names.ts'
import { withinPackage } from '../config/shipped.ts'
import { namesIn as marksIn } from '../pipeline/named.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import { timeText } from '../json/moment.ts'
import type { AllRecords, AnyRecord, RecordField } from '../spec/record.ts'
import type { RecordLookup, RecordUse } from '../spec/record-access.ts'
import type { RecordView, ShownRecord } from '../spec/record-view.ts'
import type { StoredRecord } from '../store/records.ts'

/** The source of the views. */
export interface Shown {
  readonly records: RecordSet
  readonly registry: Registry
  readonly settings?: Pick<Settings, 'models'> | undefined
  readonly leftOut?: readonly LeftOut[]
}

/** The records of a configuration as stages see them, and the names of a record. */
export function recordViews(around: Shown): Pick<RecordLookup, 'types' | 'of' | 'find' | 'uses' | 'reveal'> & {
  namesOf(type: string, name: string): ReadonlySet<string>
} {
  const { records, registry, settings, leftOut = [] } = around
  let all: AllRecords | undefined
  const show = (type: AnyRecord | undefined, view: RecordView): ShownRecord => {
    let shown: JsonObject | undefined
    const make = () => {
      const usual = shownFields(view)
      return type?.show ? type.show(usual, view, (all ??= recordsAround(records, registry, settings?.models))) : usual
    }
    return {
      ...view,
      get shown() {
        return (shown ??= make())
      },
    }
  }
  const views = (word: string, wanted: (record: { readonly name: string }) => boolean = () => true) => {
    const type = registry.records.get(word)
    return [
      ...(records.get(word) ?? []).filter(wanted).map((record) => show(type, viewOf(record, registry))),
      ...leftOut
        .filter(({ stored }) => stored.type === word && wanted(stored))
        .map((one) => show(type, viewOfLeftOut(one, registry))),
    ]
  }
  const checkedOf = (type: string, name: string) => records.get(type)?.find((one) => one.name === name)
  const namesOf = (type: string, name: string) => {
    const checked = checkedOf(type, name)
    return new Set(checked ? namesIn(checked.type, checked.value).map(({ word }) => word) : [name])
  }
  return {
    types: registry.records,
    of: (type) => views(type),
    find: (type, name) => views(type, (record) => record.name === name)[0],
    namesOf,
    uses(type, name) {
      const names = namesOf(type, name)
      return [...registry.records.keys()].flatMap((word) =>
        views(word).flatMap((by) =>
          pathsTo(registry.records.get(word)?.schema, by.value, type, names).map((path): RecordUse => ({ by, path })),
        ),
      )
    },
    reveal(word, name) {
      const type = registry.records.get(word)
      const left = leftOut.find(({ stored }) => stored.type === word && stored.name === name)?.stored.value
      const value = checkedOf(word, name)?.value ?? (type && left && flat(type, left))
      const named = type && value && secretNames(type, value, registry)
      return named && withoutSecrets(nested(type, value), named).secrets
    },
  }
}

/** Paths to the references to a record in a value. */
export function pathsTo(
  schema: unknown,
  value: JsonObject,
  type: string,
  names: ReadonlySet<string>,
): readonly (readonly (string | number)[])[] {
  return marksIn(schema as Parameters<typeof marksIn>[0], value, { source: nowhere, path: [] })
    .filter(({ kind, name }) => kind === type && names.has(name))
    .map((named) => named.place.path)
}

/** What clients see of a record by default: its fields and its state, without secrets. */
export function shownFields({ value, secrets, source, declaredAt, stored, problem }: RecordView): JsonObject {
  const beside: Partial<Record<RecordField, Json>> = {
    ...(Object.keys(secrets).length > 0 ? { secrets } : {}),
    source,
    ...(declaredAt ? { declared_at: { ...declaredAt } } : {}),
    version: stored?.version ?? null,
    ...(stored ? { created_at: timeText(stored.createdAt), updated_at: timeText(stored.updatedAt) } : {}),
    problem: problem ?? null,
  }
  return { ...value, ...beside }
}

function viewOf({ type, name, value, given, off }: CheckedRecord, registry: Registry): RecordView {
  const place = given.source.report([...given.path, 'name'], '', '')
  return {
    type: type.name,
    name,
    ...shown(type, value, registry),
    source: given.stored ? 'database' : 'file',
    ...(given.stored ? about(given.stored) : { declaredAt: { file: withinPackage(place.file), line: place.line } }),
    ...(off === undefined ? {} : { off, problem: `off: ${off}` }),
  }
}

function viewOfLeftOut(one: LeftOut, registry: Registry): RecordView {
  const { type, name, value = { name } } = one.stored
  const known = registry.records.get(type)
  return {
    type,
    name,
    ...(known ? shown(known, withDefaults(known, flat(known, value)), registry) : { value: { name }, secrets: {} }),
    source: 'database',
    ...about(one.stored),
    problem: leftOutLine(one),
  }
}

/** A value that nobody has checked, with defaults for what it does not say. */
function withDefaults({ schema }: AnyRecord, value: JsonObject): JsonObject {
  return validator(schema as object)(nowhere, [], value).value as JsonObject
}

function about(stored: StoredRecord): Pick<RecordView, 'stored' | 'notes'> {
  return { stored: stampsOf(stored), ...(stored.notes ? { notes: stored.notes } : {}) }
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
    // Four characters of a short secret would reveal too much, as they may of an address, whose path may have no more.
    const hint = text.length >= 16 && !text.includes('://') ? text.slice(-4) : null
    return [path, { set: true as const, hint }] as const
  })
  return Object.fromEntries(told)
}

export function stampsOf({ version, createdAt, updatedAt, updatedBy }: StoredRecord): RecordView['stored'] & object {
  return { version, createdAt, updatedAt, ...(updatedBy !== undefined && { updatedBy }) }
}
