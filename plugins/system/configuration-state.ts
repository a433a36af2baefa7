import type { Finding, Host, JsonObject, Services } from '../../engine/index.ts'
import { timeText } from '../../engine/kit.ts'

/** The state of the running configuration for clients. */
export async function configurationState(
  { running, scrub }: Pick<Host, 'running' | 'scrub'>,
  processes: Services['processes'],
): Promise<JsonObject> {
  const { version, loadedAt, files, off, risks } = running.state()
  const others = await processes.list()
  return {
    version,
    loaded_at: timeText(loadedAt),
    files: [...files],
    error: refusalOf(running, scrub),
    processes: others.map(({ id, configVersion }) => ({
      id,
      version: configVersion,
      current: configVersion === version,
    })),
    off: [...off],
    ...(risks.length > 0 && { risks: findingsIn(risks, scrub) }),
  }
}

/** Why newer files were refused, with the findings of one file or of all; null: there are none. */
export function refusalOf(running: Host['running'], scrub: Host['scrub'], file?: string): JsonObject | null {
  const { refused } = running.state()
  const found = refused?.findings.filter((finding) => file === undefined || finding.file === file) ?? []
  if (refused === undefined || found.length === 0) return null
  return { at: timeText(refused.at), findings: findingsIn(found, scrub) }
}

function findingsIn(found: readonly Finding[], scrub: Host['scrub']): JsonObject[] {
  return found.map((finding) => ({ ...finding, message: scrub(finding.message) }))
}
