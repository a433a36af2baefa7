import type { JsonObject, Reply, SectionView } from 'sluice'
import { notFound, recordReply } from './record-reply.ts'

/** The section with this name. Throws `not_found` if there is none. */
export function sectionIn(sections: readonly SectionView[], name: string): SectionView {
  const section = sections.find((one) => one.name === name)
  if (section === undefined) throw notFound('section', name)
  return section
}

/** A section for clients: its settings and their state, without secrets. */
export function sectionWire(section: SectionView): JsonObject {
  const { name, value, defaults, overridden, shown, stored } = section
  const { created_at: _, ...about } = shown
  return {
    section: name,
    values: value,
    defaults,
    overridden: { ...overridden },
    updated_at: null,
    ...about,
    updated_by: stored?.updatedBy ?? null,
  }
}

/** A whole section, with its version as entity tag. */
export function sectionReply(section: SectionView, more: JsonObject = {}): Reply {
  return { ...recordReply(section), body: { kind: 'json', value: { ...sectionWire(section), ...more } } }
}
