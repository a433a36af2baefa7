import type { Diagnostic } from '../config/diagnostics.ts'
import type { ToldReload } from '../spec/telling.ts'
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
  const message: ToldReload = previous === undefined ? {} : { previous }
  const over = reloads.begin(message)
  try {
    const { version, findings, live } = await read()
    const refused = findings.length > 0
    message.version = version
    message.findings = findings.length
    message.result = refused ? 'refused' : live ? 'live' : 'unchanged'
    over(refused ? { code: findings[0]?.code ?? '' } : undefined)
    return findings
  } catch (thrown) {
    over(toldError(thrown))
    throw thrown
  }
}
