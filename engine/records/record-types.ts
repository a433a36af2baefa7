import { isObject } from '../spec/json.ts'
import type { AnyRecord } from '../spec/record.ts'
import { followedKeywords, nameKinds } from '../pipeline/named.ts'
import type { Registry } from '../config/registry.ts'
import { settingsFormat } from '../config/settings.ts'
import { didYouMean } from '../config/suggest.ts'
import type { ReportOf } from '../config/uses.ts'

type Types = ReadonlyMap<string, AnyRecord>

/** Finds lists of the configuration file that two types claim. */
export function checkPlaces(records: Types, report: ReportOf): void {
  const owners = new Map(Object.keys(settingsFormat.properties).map((place) => [place, 'the engine']))
  for (const record of records.values()) {
    const { name, place } = record
    const other = owners.get(place)
    if (other !== undefined) report(record, 'duplicate', `record "${name}": ${place} belongs to ${other}`)
    else owners.set(place, `the record "${name}"`)
  }
}

/** Finds schemas with references to unknown types of records, or in places that are not searched for names. */
export function checkNamed(
  { stages, records, services, providers }: Pick<Registry, 'stages' | 'records' | 'services' | 'providers'>,
  report: ReportOf,
): void {
  const known = new Set<string>([...nameKinds, ...records.keys()])
  const check = (component: Parameters<ReportOf>[0], schema: unknown, followed: boolean) => {
    const named = `${component.kind} "${component.name}": x-names:`
    for (const mark of marksIn(schema, followed)) {
      const { kind } = mark
      if (!mark.followed)
        report(component, 'unchecked-name', `${named} the name of a ${kind} is not checked at this place of the schema`)
      else if (!known.has(kind))
        report(component, 'unknown-record-type', `${named} no type of record "${kind}"${didYouMean(kind, known)}`)
    }
  }
  stages.forEach((stage) => check(stage, stage.config, true))
  records.forEach((record) => check(record, record.schema, true))
  services.forEach((service) => check(service, service.settings, true))
  providers.forEach((provider) => check(provider, provider.config, false))
}

/** A text in a schema that is marked as a name of a kind. */
interface Mark {
  readonly kind: string
  /** Whether this part of the schema is searched for names. */
  readonly followed: boolean
}

const followedWords = new Set<string>(followedKeywords)
/** Keywords that map arbitrary names to schemas. */
const maps = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs'])

function marksIn(schema: unknown, followed: boolean): readonly Mark[] {
  if (!isObject(schema)) return []
  const { 'x-names': kind, ...rest } = schema
  return [
    ...(typeof kind === 'string' ? [{ kind, followed }] : []),
    ...Object.entries(rest).flatMap(([keyword, inner]) => {
      const inside = Array.isArray(inner) ? inner : maps.has(keyword) ? Object.values(inner ?? {}) : [inner]
      return inside.flatMap((one: unknown) => marksIn(one, followed && followedWords.has(keyword)))
    }),
  ]
}
