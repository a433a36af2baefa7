import type { KnownNames } from '../pipeline/named.ts'
import type { ModelRecord } from '../spec/catalog.ts'
import type { TypedRecords } from '../spec/record.ts'
import type { StoredRecord } from '../store/records.ts'
import type { Diagnostic } from '../config/diagnostics.ts'
import type { Registry } from '../config/registry.ts'
import { checkSection, sectionNames } from './sections.ts'
import type { Overridden } from '../config/placed-settings.ts'
import type { CheckedSection, SectionSet } from './sections.ts'
import { readable, storedName, storedSource } from './stored-records.ts'
import type { LeftOut, Unopened } from './stored-records.ts'
import { didYouMean } from '../config/suggest.ts'

/** The context for checking stored sections. */
export interface SectionsAround {
  readonly registry: Registry
  /** The sections of the file. */
  readonly declared: SectionSet
  readonly overridden: readonly Overridden[]
  /** Names to which settings can refer. */
  readonly names: KnownNames
  /** The records of these names, also those that are off. */
  readonly records: TypedRecords
  /** The same models with what is known of them beside their records. */
  readonly models: readonly ModelRecord[]
  /** Whether there is a key-value store that machines share. */
  readonly sharesStore: boolean
  readonly isReachable: boolean
}

/**
 * The sections of a file, with defaults replaced by valid stored sections.
 * @param unopened sections to leave out in any case
 */
export function fitSections(
  stored: readonly StoredRecord[],
  around: SectionsAround,
  unopened: Unopened = new Map(),
): {
  readonly sections: SectionSet
  readonly leftOut: readonly LeftOut[]
  readonly warnings: readonly Diagnostic[]
} {
  const sections = new Map(around.declared)
  const leftOut: LeftOut[] = []
  const warnings: Diagnostic[] = []
  for (const one of stored) {
    const failures = unopened.get(storedName(one))
    const fitted = failures ? { findings: failures, unopened: true as const } : fitSection(one, around)
    if ('findings' in fitted) leftOut.push({ stored: one, ...fitted })
    else {
      sections.set(one.name, fitted.section)
      warnings.push(...fitted.warnings)
    }
  }
  return { sections, leftOut, warnings }
}

function fitSection(
  stored: StoredRecord,
  { registry, declared, overridden, names, records, models, sharesStore, isReachable }: SectionsAround,
):
  | { readonly section: CheckedSection; readonly warnings: readonly Diagnostic[] }
  | { readonly findings: readonly Diagnostic[] } {
  const { name } = stored
  const source = storedSource(stored)
  const finding = (code: string, message: string) => ({ findings: [source.report([], code, message)] })
  const all = sectionNames(registry.services)
  if (!all.has(name)) return finding('unknown-section', `there is no section "${name}"${didYouMean(name, all)}`)
  if (declared.get(name)?.from === 'file') return finding('duplicate', `the file declares server_config.${name} too`)
  const { value: given, finding: spoiled } = readable(stored)
  if (given === undefined) return { findings: [spoiled] }
  const found: Diagnostic[] = []
  const place = { name, source, path: [], from: 'database', stored } as const
  // Only mistakes in the section itself leave it out.
  const warn = () => undefined
  const value = checkSection(
    place,
    given,
    { ...registry, names, records, overridden, models, sharesStore, isReachable, warn },
    found,
  )
  const { true: warnings = [], false: findings = [] } = Object.groupBy(found, ({ warning }) => `${warning === true}`)
  return value && findings.length === 0 ? { section: { ...place, value }, warnings } : { findings }
}
