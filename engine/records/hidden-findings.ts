import { isObject } from '../spec/json.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import type { StoredRecord } from '../store/records.ts'
import { Secrets } from '../secrets/redaction.ts'
import type { Diagnostic } from '../config/diagnostics.ts'
import { typedParts } from './records.ts'
import type { Registry } from '../config/registry.ts'
import { secretsOf, secretsOfStored } from './secrets.ts'
import type { Sections } from '../config/server-settings.ts'
import type { Source } from '../config/source.ts'

/** Findings with all secrets of the files and of stored records redacted: a plugin may quote the value it refuses. */
export function hideSecrets(
  findings: readonly Diagnostic[],
  sources: readonly Source[],
  registry: Registry,
  stored: readonly StoredRecord[] = [],
): Diagnostic[] {
  return secretsHider(sources, registry, stored)(findings)
}

/** Like `hideSecrets`, for several lists of findings. */
export function secretsHider(
  sources: readonly Source[],
  registry: Registry,
  stored: readonly StoredRecord[],
): (findings: readonly Diagnostic[]) => Diagnostic[] {
  let secrets: Secrets | undefined
  return (findings) => {
    if (findings.length === 0) return []
    const written = sources.flatMap((source) => writtenSecrets(source, registry))
    const hidden = (secrets ??= secretsIn([...written, ...secretsOfStored(stored, registry)]))
    return findings.map((finding) => ({ ...finding, message: hidden.scrub(finding.message) }))
  }
}

function secretsIn(values: readonly string[]): Secrets {
  const secrets = new Secrets()
  for (const value of values) secrets.protect(value)
  return secrets
}

/** The secrets in a file as written, which may have any mistakes. */
function writtenSecrets({ value }: Source, registry: Registry): readonly string[] {
  const file = isObject(value) ? value : {}
  const objects = (place: string): JsonObject[] => {
    const list = file[place]
    return Array.isArray(list) ? (list as readonly Json[]).filter(isObject) : []
  }
  const records = [...registry.records.values()].map(
    (type) => [type.name, objects(type.place).map((one) => ({ type, value: one }))] as const,
  )
  const written = {
    providers: [...registry.records.values()]
      .filter(({ typed }) => typed === 'provider')
      .flatMap((type) => objects(type.place).map((one) => typedParts(type, one))),
    server_config: (isObject(file['server_config']) ? file['server_config'] : {}) as Sections,
  }
  return secretsOf(written, registry, new Map(records))
}
