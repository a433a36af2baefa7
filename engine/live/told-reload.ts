import type { Diagnostic } from '../config/diagnostics.ts'
import { reloads, toldError } from '../telling.ts'

/** A configuration that was read, and everything that is wrong with it. */
interface Read {
  readonly version: string
  readonly findings: readonly Diagnostic[]
  /** It runs now. */
  readonly live: boolean
}

/** Reads a configuration, tells of it, and answers what is wrong with it. */
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
