import { GatewayError } from '../../engine/index.ts'
import type { Host, JsonObject, Services } from '../../engine/index.ts'
import { checkInput, mergePatch } from '../../engine/kit.ts'

type Settings = Services['smart_routing']['settings']

/**
 * The running settings with others laid over them, by a merge patch. Throws the error of a change that the settings do
 * not allow.
 */
export function laidOver(patch: JsonObject, running: Settings, host: Pick<Host, 'records' | 'catalog'>): Settings {
  const section = host.records.sections().find(({ name }) => name === 'smart_routing')
  if (section === undefined) throw new Error('there is no section smart_routing')
  const merged = mergePatch(running, patch)
  const settings = checkInput({ type: 'object', properties: { settings: section.schema } }, { settings: merged })[
    'settings'
  ] as unknown as Settings
  const named = { 'settings.baseline_model': settings.baseline_model, 'settings.judge.model': settings.judge.model }
  for (const [param, name] of Object.entries(named))
    if (name !== null && !host.catalog.find(name))
      throw new GatewayError('invalid_reference', { param, reason: 'names no model' })
  return settings
}
