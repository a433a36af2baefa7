import { isDeepStrictEqual } from 'node:util'
import { openSection, secretNames, withoutSecrets } from './secrets.ts'
import { sectionNames, sectionType } from './sections.ts'
import { ownFields, typeField, typedParts } from './records.ts'
import { flat, nested, storedName } from './stored-records.ts'
import { mergePatch } from '../json/merge-patch.ts'
import { GatewayError } from '../spec/error.ts'
import { isObject } from '../spec/json.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import type { AnyRecord } from '../spec/record.ts'
import type { RecordChange } from '../spec/record-access.ts'
import type { RecordWrite, StoredRecord, StoredRecords } from '../store/records.ts'
import type { DeletedRecordsTable } from '../store/tables.ts'
import type { Configuration } from './configuration.ts'
import { refusalOfMove, withKeptSecrets } from './moved-secrets.ts'

/** Changes with an effect: what has to be written, and all stored records after it. */
export interface PlannedChanges {
  readonly writes: readonly RecordWrite[]
  readonly next: StoredRecords
  /** Why the changes are refused although they may be valid. */
  readonly refusal?: GatewayError | undefined
}

/** What changes apply to, with the last versions of deleted records of the same names. */
export type Changeable = StoredRecords & { readonly deleted: readonly DeletedRecordsTable[] }

/** Names that fit in a URL (RFC 3986, section 5.2.4, removes "." and "..") and in every database. */
const storable = /^(?!\.{1,2}$)[^\p{Cc}\p{Cs}]{1,256}$/u

export function bodyOf(change: RecordChange): JsonObject {
  if (change.kind === 'delete') return {}
  return change.kind === 'create' ? change.value : change.patch
}

/** The names of the records that changes concern, without those that no record can have. */
export function possibleNames(changes: readonly RecordChange[]): readonly string[] {
  return changes.map(nameOf).filter((name) => storable.test(name))
}

/** The name of the record that a change concerns. */
export function nameOf(change: RecordChange): string {
  if (change.kind !== 'create') return change.name
  const { name } = change.value
  // The schema refuses a record without a name.
  return typeof name === 'string' ? name : ''
}

/**
 * The effect of changes on the stored records, one after the other; undefined: none. Throws a `GatewayError` when a
 * change is not allowed.
 * @param by name of who makes them
 */
export function planChanges(
  changes: readonly RecordChange[],
  stored: Changeable,
  files: Configuration,
  by?: string,
): PlannedChanges | undefined {
  const now = { at: Date.now(), by }
  const deleted = new Map(stored.deleted.map((one) => [storedName(one), one.version]))
  let { records } = stored
  let refusal: GatewayError | undefined
  const writes = changes.flatMap((change) => {
    const planned = planChange(change, { records, deleted }, files, now)
    records = planned?.next ?? records
    refusal ??= planned?.refusal
    return planned ? [planned.write] : []
  })
  return writes.length > 0 ? { writes, next: { revision: stored.revision + 1, records }, refusal } : undefined
}

interface Planned extends Pick<PlannedChanges, 'refusal'> {
  readonly write: RecordWrite
  readonly next: readonly StoredRecord[]
}

function planChange(
  asked: RecordChange,
  { records, deleted }: { readonly records: readonly StoredRecord[]; readonly deleted: Map<string, number> },
  files: Configuration,
  { at: now, by }: { readonly at: number; readonly by: string | undefined },
): Planned | undefined {
  const { type } = asked
  const name = nameOf(asked)
  const before = records.find((one) => one.type === type && one.name === name)
  const isChanged = type === sectionType && asked.kind === 'change'
  const change = isChanged ? { ...asked, patch: withKeptSecrets(asked, before?.value, files) } : asked
  const known = files.registry.records.get(type)
  if (known?.holds === 'service')
    throw new Error(`records of the type "${type}" are changed by the service that holds them`)
  const value = type === sectionType ? sectionAfter(change, before, files) : recordAfter(change, before, files)
  if (before?.value === undefined ? before === value : isSame(known, before.value, value)) return undefined
  const notes = value && notesOf(change, value, before, files, now)
  const last = before?.version ?? deleted.get(storedName({ type, name })) ?? 0
  if (value === undefined) deleted.set(storedName({ type, name }), last)
  const record = value && {
    type,
    name,
    version: last + 1,
    value,
    ...(notes && { notes }),
    createdAt: before?.createdAt ?? now,
    updatedAt: now,
    ...(by !== undefined && { updatedBy: by }),
  }
  const others = records.filter((one) => one !== before)
  const at = before ? records.indexOf(before) : others.length
  const next = record ? others.toSpliced(at, 0, record) : others
  return {
    write: {
      type,
      name,
      secret: value !== undefined && isSecret(type, name, value, files),
      ...(record ? { record } : {}),
    },
    next,
    refusal: refusalOf(change, before?.value, value, files),
  }
}

/** Whether two values of a record mean the same: without fields of its type, it may have an empty `config`, or none. */
function isSame(known: AnyRecord | undefined, before: JsonObject, after: JsonObject | undefined): boolean {
  if (known === undefined || after === undefined) return isDeepStrictEqual(before, after)
  return isDeepStrictEqual(nested(known, flat(known, before)), nested(known, flat(known, after)))
}

/** Why a change is refused although it may be valid. */
function refusalOf(
  change: RecordChange,
  before: JsonObject | undefined,
  after: JsonObject | undefined,
  files: Configuration,
): GatewayError | undefined {
  if (change.kind !== 'change' || before === undefined || after === undefined) return undefined
  const patch = belowConfig(files.registry.records.get(change.type), change.patch)
  return refusalOfMove({ ...change, before, after, patch }, files)
}

/** The notes to store with a record. */
function notesOf(
  change: RecordChange,
  value: JsonObject,
  before: StoredRecord | undefined,
  { registry }: Configuration,
  at: number,
): JsonObject | undefined {
  const { notes } = 'notes' in change ? change : {}
  if (notes) return notes
  const noted = before?.value && { value: before.value, notes: before.notes ?? {} }
  return registry.records.get(change.type)?.note?.(value, noted, at) ?? before?.notes
}

/** The value of a section after a change; undefined: only defaults remain, and nothing is stored. */
function sectionAfter(
  change: RecordChange,
  before: StoredRecord | undefined,
  { sections, registry }: Configuration,
): JsonObject | undefined {
  const { type } = change
  const name = nameOf(change)
  if (before === undefined && !sectionNames(registry.services).has(name)) notFound(type, name)
  if (change.kind === 'create')
    throw new GatewayError('name_taken', { reason: `The section "${name}" exists already; change it instead.` })
  if (before === undefined && sections.get(name)?.from === 'file')
    throw new GatewayError('declared_in_file', { type, name })
  // A section that is not stored has version 0.
  refuseStale(change, before ?? { version: 0 })
  const after = change.kind === 'delete' ? {} : (mergePatch(before?.value, change.patch) as JsonObject)
  return Object.keys(after).length > 0 ? after : undefined
}

/** The value of a record after a change; undefined: it is deleted. */
function recordAfter(
  change: RecordChange,
  before: StoredRecord | undefined,
  files: Configuration,
): JsonObject | undefined {
  const known = files.registry.records.get(change.type)
  const name = nameOf(change)
  refuseDeclared(change, name, before, files)
  if (change.kind === 'create') {
    refuseName(change.value['name'])
    return mergePatch({}, belowConfig(known, change.value)) as JsonObject
  }
  refuseStale(change, before)
  if (change.kind === 'delete') return undefined
  const value = { ...before?.value, name }
  // A stored row may have fields in both places; those next to `config` count, as when records are read.
  const kept = known ? nested(known, flat(known, value)) : value
  const after = mergePatch(kept, belowConfig(known, change.patch)) as JsonObject
  if (after['name'] !== name) refuseField('name', 'cannot change')
  const field = known?.typed === undefined ? undefined : typeField(known)
  if (field !== undefined && after[field] !== before?.value?.[field]) refuseField(field, 'cannot change')
  return after
}

/** Refuses changes of records declared in the file. A stored record with the same name can still be changed. */
function refuseDeclared(
  { kind, type }: RecordChange,
  name: string,
  before: StoredRecord | undefined,
  { records }: Configuration,
): void {
  const isDeclared = records.get(type)?.some((one) => one.name === name) ?? false
  if (isDeclared && before === undefined) throw new GatewayError('declared_in_file', { type, name })
  if (kind === 'create' && before !== undefined)
    throw new GatewayError('name_taken', { reason: `There is a ${type} "${name}" already.` })
  if (kind !== 'create' && before === undefined) notFound(type, name)
}

function notFound(type: string, name: string): never {
  throw new GatewayError('not_found', {}, { message: `There is no ${type} "${name}".` })
}

function refuseStale(
  { type, name, versions }: Exclude<RecordChange, { kind: 'create' }>,
  before: Pick<StoredRecord, 'version'> | undefined,
): void {
  if (before && versions?.includes(before.version) === false)
    throw new GatewayError('stale_version', { type, name, version: before.version })
}

/** The schema refuses a record without a name. */
function refuseName(name: Json | undefined): void {
  if (typeof name !== 'string' || storable.test(name)) return
  const reason = 'must have 1 to 256 characters, none of them a control character, and cannot be "." or ".."'
  refuseField('name', reason)
}

/**
 * Moves the fields that belong to its `type` below `config`. A field in both places, or below `config` without
 * belonging there, is refused: it would be lost.
 */
function belowConfig(type: AnyRecord | undefined, body: JsonObject): JsonObject {
  if (type?.typed === undefined) return body
  const { config, ...flatBody } = body
  const { own, config: rest } = typedParts(type, flatBody)
  const fields = Object.keys(rest)
  if (fields.length === 0 && (config === undefined || config === null)) return body
  if (config !== undefined && !isObject(config)) refuseField('config', 'must be an object')
  const beside = ownFields(type)
  const twice = Object.keys(config ?? {}).find((field) => beside.has(field) || fields.includes(field))
  if (twice !== undefined)
    refuseField(`config.${twice}`, fields.includes(twice) ? 'stands beside "config", too' : 'belongs beside "config"')
  return { ...own, config: { ...config, ...rest } }
}

function refuseField(param: string, reason: string): never {
  throw new GatewayError('invalid_field', { param, reason })
}

function isSecret(word: string, name: string, value: JsonObject, { registry }: Configuration): boolean {
  if (word === sectionType) return Object.keys(openSection(name, value, registry).secrets).length > 0
  const type = registry.records.get(word)
  if (type === undefined) return false
  const given = flat(type, value)
  const named = secretNames(type, given, registry)
  return named === undefined || Object.keys(withoutSecrets(nested(type, given), named).secrets).length > 0
}
