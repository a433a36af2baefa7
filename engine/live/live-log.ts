import type { Logger } from 'pino'
import { printDiagnostic } from '../config/diagnostics.ts'
import type { Diagnostic } from '../config/diagnostics.ts'
import type { Snapshot } from './snapshot.ts'

/** Logs why a configuration does not go live. */
export function logRefused(log: Logger, findings: readonly Diagnostic[], current: Snapshot | undefined): void {
  for (const finding of findings) log.error(printDiagnostic(finding))
  if (current) log.error({ version: current.version }, 'the new configuration is refused; the last good one stays')
}

/** Logs that a configuration is live, with its warnings. */
export function logLive(log: Logger, snapshot: Snapshot, isFirst: boolean): void {
  for (const line of worthKnowing(snapshot)) log.warn(line)
  // The first configuration serves only once the gateway listens, which is logged elsewhere.
  if (!isFirst) log.info({ version: snapshot.version }, 'the configuration is live')
}

/** Logs that the current stored records are live, with warnings that are new. */
export function logRecordsLive(log: Logger, snapshot: Snapshot, before: Snapshot): void {
  const told = new Set(worthKnowing(before))
  for (const line of worthKnowing(snapshot)) if (!told.has(line)) log.warn(line)
  for (const { stored } of before.leftOut)
    if (snapshot.records.get(stored.type)?.some(({ name, given }) => given.stored && name === stored.name))
      log.info(`${stored.type} "${stored.name}" is no longer left out`)
  log.info({ version: snapshot.version }, 'the stored records are live')
}

function worthKnowing({ warnings, off, without }: Snapshot): readonly string[] {
  // Without a configuration file, the providers that are off are of no interest.
  return [...warnings.map(printDiagnostic), ...(without === undefined ? off : [])]
}
