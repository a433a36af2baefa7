import { openSection } from './secrets.ts'
import { formOf } from '../kit/schema-form.ts'
import { sectionDefaults, sectionSchema, sectionSecrets, sectionType } from './sections.ts'
import type { Overridden } from '../config/placed-settings.ts'
import type { CheckedSection, SectionSet } from './sections.ts'
import type { RecordSet } from './records.ts'
import type { Registry } from '../config/registry.ts'
import { withinPackage } from '../config/shipped.ts'
import { leftOutLine } from './stored-records.ts'
import type { Settings } from '../config/settings.ts'
import type { LeftOut } from './stored-records.ts'
import type { JsonObject } from '../spec/json.ts'
import type { SectionView } from '../spec/record-view.ts'
import type { RecordLookup, RecordUse } from '../spec/record-access.ts'
import { pathsTo, recordViews, secretsTold, shownFields, stampsOf } from './record-views.ts'

/** The records and sections of a configuration as stages see them. */
export function viewsOf(shown: Shown): RecordLookup {
  const records = recordViews(shown)
  const sections = () => sectionViews(shown)
  const of: RecordLookup['of'] = (type) => (type === sectionType ? sections() : records.of(type))
  const find: RecordLookup['find'] = (type, name) =>
    type === sectionType ? sections().find((section) => section.name === name) : records.find(type, name)
  return {
    types: records.types,
    of,
    find,
    sections,
    reveal(type, name) {
      if (type !== sectionType) return records.reveal(type, name)
      const section = shown.sections.get(name)
      return section && openSection(name, section.value, shown.registry).secrets
    },
    uses: (type, name) => [...records.uses(type, name), ...usesInSections(shown, records.namesOf(type, name), type)],
  }
}

/** The references to a record in sections. */
function usesInSections(shown: Shown, names: ReadonlySet<string>, type: string): readonly RecordUse[] {
  return sectionViews(shown).flatMap((by) =>
    pathsTo(by.schema, by.value, type, names).map((path): RecordUse => ({ by, path })),
  )
}

/** The sections of a configuration, including those left out. */
function sectionViews(shown: Shown): readonly SectionView[] {
  const leftOut = (shown.leftOut ?? []).filter(({ stored }) => stored.type === sectionType)
  const out = new Map(leftOut.map((one) => [one.stored.name, one]))
  const known = [...shown.sections.values()].map((section) => viewOf(section, shown, out.get(section.name)))
  const strange = leftOut.filter(({ stored }) => !shown.sections.has(stored.name))
  return [...known, ...strange.map((one) => viewOfLeftOut(one, shown))]
}

/** The source of the views. */
export interface Shown {
  readonly records: RecordSet
  readonly sections: SectionSet
  readonly overridden: readonly Overridden[]
  readonly registry: Registry
  readonly settings?: Pick<Settings, 'models'> | undefined
  readonly leftOut?: readonly LeftOut[]
}

function viewOf(section: CheckedSection, shown: Shown, out: LeftOut | undefined): SectionView {
  if (out) return viewOfLeftOut(out, shown)
  const { name, value, source, path, from, stored } = section
  const { file, line } = source.report(path, '', '')
  return withState({
    ...about(name, value, shown),
    source: from,
    ...(stored ? { stored: stampsOf(stored) } : {}),
    ...(from === 'file' ? { declaredAt: { file: withinPackage(file), line } } : {}),
  })
}

function viewOfLeftOut(one: LeftOut, shown: Shown): SectionView {
  const { name, value = {} } = one.stored
  const stored = stampsOf(one.stored)
  const settings = { ...sectionDefaults(name, shown.registry.services), ...value }
  return withState({ ...about(name, settings, shown), source: 'database', stored, problem: leftOutLine(one) })
}

/** Clients see the settings of a section in a place of their own, beside its state. */
function withState(section: Omit<SectionView, 'shown'>): SectionView {
  return { ...section, shown: shownFields({ ...section, value: {} }) }
}

function about(
  name: string,
  value: JsonObject,
  { registry, overridden }: Shown,
): Omit<SectionView, 'source' | 'shown'> {
  const { services } = registry
  const { open, secrets } = openSection(name, value, registry)
  return {
    type: sectionType,
    name,
    value: open,
    secrets: secretsTold(secrets),
    defaults: openSection(name, sectionDefaults(name, services), registry).open,
    schema: formOf(sectionSchema(name, services), sectionSecrets(name, services)),
    overridden: Object.fromEntries(
      overridden.filter(({ section }) => section === name).map(({ field, variable }) => [field, variable]),
    ),
  }
}
