import type { Logger } from 'pino'
import { printDiagnostic } from '../config/diagnostics.ts'
import type { Diagnostic } from '../config/diagnostics.ts'
import type { Snapshot } from './snapshot.ts'

/** Says why a configuration does not go live. */
export function logRefused(log: Logger, findings: readonly Diagnostic[], current: Snapshot | undefined): void {
  for (const finding of findings) log.error(printDiagnostic(finding))
  if (current) log.error({ version: current.version }, 'the new configuration is refused; the last good one stays')
}

/** Says that a configuration is live, and what is to be known of it. */
export function logLive(log: Logger, { warnings, off, without, version }: Snapshot, isFirst: boolean): void {
  for (const warning of warnings) log.warn(printDiagnostic(warning))
  // Where nobody wrote a configuration, nobody asked for what is off.
  if (without === undefined) for (const line of off) log.warn(line)
  // The first one serves only once the gateway listens; whoever serves it says so.
  if (!isFirst) log.info({ version }, 'the configuration is live')
}
