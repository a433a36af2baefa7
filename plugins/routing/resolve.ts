import { GatewayError, defineStage } from '../../engine/index.ts'
import type { Mode, Operation } from '../../engine/index.ts'
import { holds, modeOf, unknownModel } from '../../engine/kit.ts'
import { preferencesOf } from './preferences.ts'

/**
 * Finds the model record of the requested name. A virtual model has none: `fast`, `auto` and `best` are matched in upper
 * and lower case, before models and aliases.
 */
export default defineStage({
  name: 'resolve',
  summary: 'Find the model record of the requested name.',
  config: {
    type: 'object',
    additionalProperties: false,
    properties: {
      allowlist: {
        type: 'boolean',
        default: true,
        description: 'Whether a key with a list of models gets one answer for other models and unknown ones.',
      },
    },
  } as const,
  needs: ['request'],
  reads: ['principal', 'preview'],
  provides: ['target'],
  gives: ['preferences'],
  uses: ['smart_routing'],
  build:
    ({ allowlist }, { catalog }, { smart_routing: routing }) =>
    ({ request, principal, preview }) => {
      const name = request.model
      const mode = modeOf(name)
      if (mode !== undefined) {
        const { operation } = request
        const isEnabled = preview?.settings?.enabled ?? routing.enabled
        refuseVirtual(mode, operation, { isEnabled, isEligible: routing.eligible(catalog).length > 0 })
        const preferences = operation === 'generate' ? preferencesOf(request) : undefined
        return { target: { name: mode, virtual: true, mode }, preferences }
      }
      const model = catalog.find(name)
      const { models } = principal ?? {}
      // What follows describes the model, so that a key must be allowed to use it.
      if (allowlist && models !== undefined && !(model && holds(models, model.name)))
        throw new GatewayError('model_not_allowed', { model: name.slice(0, 128) }, { param: 'model' })
      if (!model) throw unknownModel(name, principal, catalog)
      return { target: { name, model } }
    },
})

/** Operations on conversations. Counting and compacting them needs no model. */
const conversational: ReadonlySet<Operation> = new Set(['generate', 'count', 'compact'])

/** Throws if a virtual model cannot serve an operation. For decisions, its missing flag is told by `require`. */
function refuseVirtual(
  mode: Mode,
  operation: Operation,
  { isEnabled, isEligible }: { readonly isEnabled: boolean; readonly isEligible: boolean },
): void {
  if (operation === 'decide') return
  if (!conversational.has(operation)) {
    const message = `The model "${mode}" is chosen per conversation and is not served on this endpoint.`
    throw new GatewayError('invalid_request_error', {}, { param: 'model', message })
  }
  const reason = !isEnabled
    ? `The model "${mode}" needs smart routing, which is off (server_config.smart_routing.enabled).`
    : !isEligible
      ? `The model "${mode}" has nothing to choose from: no model has auto_eligible: true.`
      : undefined
  if (reason !== undefined) throw new GatewayError('configuration_error', { reason }, { param: 'model' })
}
