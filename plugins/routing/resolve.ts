import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import { didYouMean, holds, isPattern } from '../../engine/kit.ts'
import type { Catalog, Principal } from '../../engine/index.ts'

/** Finds the model record of the requested name. */
export default defineStage({
  name: 'resolve',
  summary: 'Find the model record of the requested name.',
  config: noConfig,
  needs: ['request'],
  reads: ['principal'],
  provides: ['target'],
  build:
    (_, { catalog }) =>
    ({ request, principal }) => {
      const name = request.model
      const model = catalog.find(name)
      if (!model) throw unknownModel(name, catalog, principal)
      return { target: { name, model } }
    },
})

/** Longest name that an error repeats, and that is compared with other names. */
const longest = 128
/** Most models whose names are compared with an unknown name. */
const compared = 200

function unknownModel(name: string, catalog: Catalog, principal: Principal | undefined): GatewayError {
  const shown = name.length > longest ? `${name.slice(0, longest)}…` : name
  const hint = name.length > longest ? '' : didYouMean(name, namesFor(principal, catalog))
  const message = hint === '' ? {} : { message: `The model "${shown}" does not exist${hint}` }
  return new GatewayError('model_not_found', { model: shown }, { param: 'model', ...message })
}

/** Names of the models that a key may use; errors suggest no other. Patterns are left out. */
function namesFor(principal: Principal | undefined, { models }: Catalog): readonly string[] {
  const allowed = principal?.models
  return models
    .filter(({ name }) => !isPattern(name) && (allowed === undefined || holds(allowed, name)))
    .slice(0, compared)
    .flatMap(({ name, aliases }) => [name, ...aliases])
}
