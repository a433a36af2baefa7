import type { AnyRecord } from '../spec/record.ts'
import type { Registry } from '../config/registry.ts'
import { placedFields } from '../config/placed-settings.ts'
import { sectionsSchema } from './sections.ts'
import { settingsFormat } from '../config/settings.ts'

/**
 * Every field of the configuration file with its JSON Schema, for editors and the reference, including fields of
 * plugins.
 */
export function fileProperties({ records, services }: Registry): Readonly<Record<string, object>> {
  const { server_config: _, ...first } = settingsFormat.properties
  const lists = [...records.values()].map((type) => [type.place, listOf(type, type.schema as object)] as const)
  return { ...first, ...placedFields(services), ...Object.fromEntries(lists), server_config: sectionsSchema(services) }
}

/** The list that declares records of a type. */
export function listOf({ summary }: AnyRecord, items: object): object {
  return { type: 'array', default: [], description: summary, items }
}
