import { checkRecords } from './records.ts'
import type { RecordSet } from './records.ts'
import type { Registry } from '../config/registry.ts'
import { secretsOfStored } from './secrets.ts'
import { givenRecord } from './stored-records.ts'
import { asText } from '../spec/json.ts'
import type { JsonObject } from '../spec/json.ts'
import type { RecordName, Records } from '../spec/record.ts'
import type { RecordView } from '../spec/record-view.ts'
import type { RecordChanged } from '../spec/record-access.ts'
import type { ServiceConfiguration } from '../spec/service.ts'
import { Secrets } from '../secrets/redaction.ts'
import { refusalOf } from './change-refusal.ts'
import { shown } from './record-views.ts'
import type { OpenServices } from '../services/services.ts'

/** Checking and witnessing records that services hold, in one configuration. */
export function heldRecords(
  registry: Registry,
  records: RecordSet,
  services: OpenServices,
): Pick<ServiceConfiguration, 'accept' | 'witness'> {
  const typeOf = (name: string) => {
    const type = registry.records.get(name)
    if (type?.holds !== 'service') throw new Error(`there is no type of record "${name}" that a service holds`)
    return type
  }
  return {
    accept<N extends RecordName>(word: N, value: JsonObject) {
      const type = registry.records.get(word)
      if (type === undefined) throw new Error(`there is no type of record "${word}"`)
      const stored = { type: word, name: asText(value['name']), version: 1, value, createdAt: 0, updatedAt: 0 }
      const given = givenRecord(type, stored, value)
      const checked = checkRecords([given], registry, records)
      const findings = checked.diagnostics.filter(({ warning }) => !warning)
      if (findings.length > 0) {
        const secrets = new Secrets()
        secretsOfStored([stored], registry).forEach((secret) => secrets.protect(secret))
        const hidden = findings.map((one) => ({ ...one, message: secrets.scrub(one.message) }))
        throw refusalOf({ kind: 'create', type: word, value }, hidden)
      }
      const accepted = checked.records.get(word)?.find((one) => one.given === given)
      return accepted?.value as unknown as Records[N]
    },
    async witness(transaction, { kind, type: word, name, before, after, audited }, by) {
      const type = typeOf(word)
      const viewOf = (value: JsonObject): RecordView => ({
        type: word,
        name,
        ...shown(type, value, registry),
        source: 'database',
      })
      const changed: RecordChanged = {
        kind,
        type: word,
        name,
        ...(before && { before: viewOf(before) }),
        ...(after && { after: viewOf(after) }),
        ...(audited && { audited }),
      }
      await services.witness(registry.services.values(), transaction, changed, by)
    },
  }
}
