import type { Host, JsonObject, Services } from '../../engine/index.ts'
import { timeText } from '../../engine/kit.ts'

/** The state of the running configuration for clients. */
export async function configurationState(
  { running, scrub }: Pick<Host, 'running' | 'scrub'>,
  processes: Services['processes'],
): Promise<JsonObject> {
  const { version, loadedAt, files, off, refused } = running.state()
  const findings = refused?.findings.map((finding) => ({ ...finding, message: scrub(finding.message) }))
  const others = await processes.list()
  return {
    version,
    loaded_at: timeText(loadedAt),
    files: [...files],
    error: refused && findings ? { at: timeText(refused.at), findings } : null,
    processes: others.map(({ id, configVersion }) => ({
      id,
      version: configVersion,
      current: configVersion === version,
    })),
    off: [...off],
  }
}
