import { isObject } from '../spec/json.ts'
import type { JsonObject } from '../spec/json.ts'
import type { AnyRecord } from '../spec/record.ts'
import type { StoredRecord } from '../store/records.ts'
import { printDiagnostic } from './diagnostics.ts'
import type { Diagnostic } from './diagnostics.ts'
import { checkRecords } from './records.ts'
import type { GivenRecord } from './record-names.ts'
import type { RecordSet } from './records.ts'
import type { Registry } from './registry.ts'
import type { Path } from './diagnostics.ts'
import type { Source } from './source.ts'
import { didYouMean } from './suggest.ts'

/** A stored record that contradicts the rest of a configuration, and what is wrong with it. */
export interface LeftOut {
  readonly stored: StoredRecord
  readonly findings: readonly Diagnostic[]
  /** It could not be opened, which may pass. */
  readonly unopened?: true
}

/** Findings of stored records that could not be opened, by `storedName`. */
export type Unopened = ReadonlyMap<string, readonly Diagnostic[]>

/** Declared and stored records that go together. */
export interface FittedRecords {
  readonly records: RecordSet
  /** What contradicts the others, or refers to what does. */
  readonly leftOut: readonly LeftOut[]
  readonly warnings: readonly Diagnostic[]
}

/**
 * Those of the stored records that go together with the declared ones and with each other.
 * @param unopened those that are left out whatever they say
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
  // What one that is left out gave to others is missing then.
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

/** What findings call a stored record. */
export function storedName({ type, name }: Pick<StoredRecord, 'type' | 'name'>): string {
  return `${type} "${name}" (database)`
}

/** The line that says that a stored record is left out. */
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
  // Without a name it is refused by its schema.
  const { name: own = name } = value
  return own === name ? [] : finding('other-name', `its value has the name ${JSON.stringify(own)}`, ['name'])
}

/** The value of a stored record, or why nobody here can read it. */
export function readable(
  stored: StoredRecord,
): { readonly value: JsonObject; readonly finding?: never } | { readonly value?: never; readonly finding: Diagnostic } {
  const { value, unread } = stored
  if (value !== undefined) return { value }
  const [code = '', message = ''] =
    unread === 'sealed'
      ? ['sealed', 'it was sealed with another master secret']
      : ['unreadable', 'its value is no JSON object']
  return { finding: storedSource(stored).report([], code, message) }
}

/** A stored record as it is checked. */
export function givenRecord(
  type: AnyRecord,
  stored: StoredRecord,
  value: JsonObject,
): GivenRecord & { readonly stored: StoredRecord } {
  const label = `the ${storedName(stored)}`
  return { type, value: flat(type, value), source: storedSource(stored), path: [], label, stored }
}

/** A record as a file declares it: there the fields of its type stand beside its own, and not below `config`. */
export function flat({ typed }: AnyRecord, value: JsonObject): JsonObject {
  const { config, ...own } = value
  return typed !== undefined && isObject(config) ? { ...config, ...own } : value
}

/** The reverse of `flat`. */
export function nested({ typed }: AnyRecord, value: JsonObject): JsonObject {
  if (typed === undefined) return value
  const { name = null, type = null, ...config } = value
  return { name, type, config }
}

/** Where findings of a stored record are shown: it has no lines. */
export function storedSource(stored: StoredRecord): Source {
  const { value = {} } = stored
  const config = isObject(value['config']) ? value['config'] : {}
  return {
    file: storedName(stored),
    value,
    missing: [],
    interpolated: () => false,
    report(path, code, message) {
      const [first = ''] = path
      const isConfig = !Object.hasOwn(value, first) && Object.hasOwn(config, first)
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
