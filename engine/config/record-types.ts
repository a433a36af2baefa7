import { isObject } from '../spec/json.ts'
import type { AnyRecord } from '../spec/record.ts'
import type { AnyStage } from '../spec/stage.ts'
import { nameKinds } from '../pipeline/named.ts'
import { settingsFormat } from './settings.ts'
import { didYouMean } from './suggest.ts'
import type { ReportOf } from './uses.ts'

type Types = ReadonlyMap<string, AnyRecord>

/** Finds lists of the configuration file that two own. */
export function checkPlaces(records: Types, report: ReportOf): void {
  const owners = new Map(Object.keys(settingsFormat.properties).map((place) => [place, 'the engine']))
  for (const record of records.values()) {
    const { name, place } = record
    const other = owners.get(place)
    if (other !== undefined) report(record, 'duplicate', `record "${name}": ${place} belongs to ${other}`)
    else owners.set(place, `the record "${name}"`)
  }
}

/** Finds schemas in which a text names something that there is no type of. */
export function checkNamed(
  { stages, records }: { readonly stages: ReadonlyMap<string, AnyStage>; readonly records: Types },
  report: ReportOf,
): void {
  const known = new Set<string>([...nameKinds, ...records.keys()])
  const check = (component: AnyStage | AnyRecord, schema: unknown) => {
    for (const kind of kindsIn(schema)) {
      if (known.has(kind)) continue
      const message = `${component.kind} "${component.name}": x-names: no type of record "${kind}"`
      report(component, 'unknown-record-type', message + didYouMean(kind, known))
    }
  }
  stages.forEach((stage) => check(stage, stage.config))
  records.forEach((record) => check(record, record.schema))
}

function kindsIn(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(kindsIn)
  if (!isObject(schema)) return []
  const { 'x-names': kind, ...rest } = schema
  return [...(typeof kind === 'string' ? [kind] : []), ...Object.values(rest).flatMap(kindsIn)]
}
