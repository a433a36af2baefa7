import type { Finding, Host, JsonObject, Services } from '../../engine/index.ts'
import { shape, timeText } from '../../engine/kit.ts'

const finding = shape.object({
  file: shape.text('The file, relative to the folder of the gateway.'),
  line: shape.integer('The line, from 1.'),
  column: shape.integer('The column, from 1.'),
  code: shape.text('The code of the finding.'),
  message: shape.text('What is wrong.'),
})

/** JSON Schema of a refusal of newer files. */
export const refusalShape = shape.orNull(
  shape.object(
    { at: shape.time('When they were refused.'), findings: shape.list(finding, 'Why.') },
    {},
    'Why newer files were refused; null: they were not.',
  ),
)

/** JSON Schema of the state of the running configuration. */
export const stateShape = shape.object(
  {
    version: shape.text('Its version.'),
    loaded_at: shape.time('When it went live.'),
    files: shape.list({ type: 'string' }, 'Its files.'),
    error: refusalShape,
    processes: shape.list(
      shape.object({
        id: shape.text('Id of the process.'),
        version: shape.text('The version that it runs.'),
        current: shape.flag('Whether that is the version of the process that answers.'),
      }),
      'The processes of the gateway.',
    ),
    off: shape.list({ type: 'string' }, 'What is off, and why.'),
  },
  { risks: shape.list(finding, 'What strangers may use.') },
)

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
