import { isObject } from '../spec/json.ts'
import type { JsonObject } from '../spec/json.ts'
import type { AnyRecord } from '../spec/record.ts'
import type { StoredRecord } from '../store/records.ts'
import { printDiagnostic } from '../config/diagnostics.ts'
import type { Diagnostic } from '../config/diagnostics.ts'
import { checkRecords, ownFields, typeField, typedParts } from './records.ts'
import type { GivenRecord } from './record-names.ts'
import type { RecordSet } from './records.ts'
import type { Registry } from '../config/registry.ts'
import type { Path } from '../config/diagnostics.ts'
import type { Source } from '../config/source.ts'
import { didYouMean } from '../config/suggest.ts'

/** A stored record that is left out of a configuration, with the findings about it. */
export interface LeftOut {
  readonly stored: StoredRecord
  readonly findings: readonly Diagnostic[]
  /** Whether it could not be opened, which may be temporary. */
  readonly unopened?: true
}

/** Findings of stored records that could not be opened, by `storedName`. */
export type Unopened = ReadonlyMap<string, readonly Diagnostic[]>

/** Compatible declared and stored records. */
export interface FittedRecords {
  readonly records: RecordSet
  /** Stored records that contradict others, or refer to one that does. */
  readonly leftOut: readonly LeftOut[]
  readonly warnings: readonly Diagnostic[]
}

/**
 * The stored records that are compatible with the declared records and with each other.
 * @param unopened records to leave out in any case
 */
export function fitRecords(
  stored: readonly StoredRecord[],
  registry: Registry,
  declared: RecordSet,
  unopened: Unopened = new Map(),
): FittedRecords {
  const leftOut: LeftOut[] = []
  let given = stored.flatMap((one) => {
    const type = registry.records.get(one.type)
    const failures = unopened.get(storedName(one))
    const findings = failures ?? unreadable(one, registry)
    if (findings.length > 0) leftOut.push({ stored: one, findings, ...(failures && { unopened: true }) })
    return findings.length === 0 && type && one.value ? [givenRecord(type, one, one.value)] : []
  })
  // Records that refer to a record left out have to be left out, too.
  for (;;) {
    const { records, diagnostics } = checkRecords(given, registry, declared)
    const wrong = Map.groupBy(
      diagnostics.filter(({ warning }) => !warning),
      ({ file }) => file,
    )
    if (wrong.size === 0) return { records, leftOut, warnings: diagnostics }
    for (const one of given) {
      const findings = wrong.get(one.source.file)
      if (findings !== undefined) leftOut.push({ stored: one.stored, findings })
    }
    given = given.filter(({ source }) => !wrong.has(source.file))
  }
}

/** The name of a stored record in findings. */
export function storedName({ type, name }: Pick<StoredRecord, 'type' | 'name'>): string {
  return `${type} "${name}" (database)`
}

/** The log line for a stored record that is left out. */
export function leftOutLine({ stored: { type, name }, findings }: LeftOut): string {
  return `${type} "${name}" is left out: ${findings.map(printDiagnostic).join('; ')}`
}

function unreadable(stored: StoredRecord, { records }: Registry): readonly Diagnostic[] {
  const { type, name } = stored
  const finding = (code: string, message: string, path: Path = []) => [storedSource(stored).report(path, code, message)]
  if (!records.has(type))
    return finding('unknown-record', `no type of record "${type}"${didYouMean(type, records.keys())}`)
  if (records.get(type)?.holds === 'service') return finding('unknown-record', 'a service holds such records')
  const { value, finding: spoiled } = readable(stored)
  if (value === undefined) return [spoiled]
  // The schema refuses a record without a name.
  const { name: own = name } = value
  return own === name ? [] : finding('other-name', `its value has the name ${JSON.stringify(own)}`, ['name'])
}

/** The value of a stored record, or why it cannot be read. */
export function readable(
  stored: StoredRecord,
): { readonly value: JsonObject; readonly finding?: never } | { readonly value?: never; readonly finding: Diagnostic } {
  const { value, unread } = stored
  if (value !== undefined) return { value }
  const [code = '', message = ''] =
    unread === 'sealed'
      ? ['sealed', 'it was sealed with another master secret']
      : ['unreadable', 'its value is not a JSON object']
  return { finding: storedSource(stored).report([], code, message) }
}

/** A stored record as input for the checks. */
export function givenRecord(
  type: AnyRecord,
  stored: StoredRecord,
  value: JsonObject,
): GivenRecord & { readonly stored: StoredRecord } {
  const label = `the ${storedName(stored)}`
  const source = storedSource(stored, type.typed === undefined ? undefined : ownFields(type))
  return { type, value: flat(type, value), source, path: [], label, stored }
}

/** A record in the form of a file, in which the fields of its type stand next to its own, not below `config`. */
export function flat({ typed }: AnyRecord, value: JsonObject): JsonObject {
  const { config, ...own } = value
  return typed !== undefined && isObject(config) ? { ...config, ...own } : value
}

/** The reverse of `flat`. */
export function nested(known: AnyRecord, value: JsonObject): JsonObject {
  if (known.typed === undefined) return value
  const { own, config } = typedParts(known, value)
  return { name: null, [typeField(known)]: null, ...own, config }
}

/**
 * The source for findings about a stored record, which has no lines.
 * @param beside the fields that stand beside `config`, in a record whose `type` names a component
 */
export function storedSource(stored: StoredRecord, beside?: ReadonlySet<string>): Source {
  const { value = {} } = stored
  return {
    file: storedName(stored),
    value,
    missing: [],
    interpolated: () => false,
    report(path, code, message) {
      const [first = ''] = path
      const isConfig = path.length > 0 && beside?.has(String(first)) === false
      return {
        file: storedName(stored),
        line: 0,
        column: 0,
        code,
        message,
        path: isConfig ? ['config', ...path] : path,
      }
    },
  }
}
