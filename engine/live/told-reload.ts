import type { Diagnostic } from '../config/diagnostics.ts'
import { reloads, toldError } from '../telling.ts'

/** A loaded configuration with all its findings. */
interface Read {
  readonly version: string
  readonly findings: readonly Diagnostic[]
  /** Whether it went live. */
  readonly live: boolean
}

/** Loads a configuration, reports the load to listeners, and returns the findings. */
export async function tellReload(
  previous: string | undefined,
  read: () => Promise<Read>,
): Promise<readonly Diagnostic[]> {
  if (!reloads.heard) return (await read()).findings
  const over = reloads.begin(previous === undefined ? {} : { previous })
  try {
    const { version, findings, live } = await read()
    const refused = findings.length > 0
    const result = refused ? 'refused' : live ? 'live' : 'unchanged'
    over(refused ? { code: findings[0]?.code ?? '' } : undefined, { version, findings: findings.length, result })
    return findings
  } catch (thrown) {
    over(toldError(thrown))
    throw thrown
  }
}
