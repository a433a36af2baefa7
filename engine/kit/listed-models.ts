import { placesOf } from '../spec/catalog.ts'
import type { Catalog, ModelRecord } from '../spec/catalog.ts'
import { GatewayError } from '../spec/error.ts'
import { holds, isPattern } from '../spec/model-pattern.ts'
import type { Principal } from '../spec/principal.ts'
import { didYouMean } from '../config/suggest.ts'

/** Longest name that an error repeats, and that is compared with other names. */
const longest = 128
/** Most models whose names are compared with an unknown name. */
const compared = 200

/** Whether to show a model to a client: its key allows the model, and one of its providers is on. */
export function isListed(model: ModelRecord, principal: Principal | undefined, catalog: Catalog): boolean {
  const { name } = model
  // A pattern is not a name that a request could use.
  if (isPattern(name)) return false
  if (principal?.models !== undefined && !holds(principal.models, name)) return false
  return placesOf(model).some(({ provider }) => {
    const open = catalog.provider(provider)
    return open !== undefined && open.off === undefined
  })
}

/** The error for a model that does not exist for this client. It suggests the nearest name of a model that is listed. */
export function unknownModel(name: string, principal: Principal | undefined, catalog: Catalog): GatewayError {
  const shown = name.length > longest ? `${name.slice(0, longest)}…` : name
  const hint = name.length > longest ? '' : didYouMean(name, namesFor(principal, catalog))
  const message = hint === '' ? {} : { message: `The model "${shown}" does not exist${hint}` }
  return new GatewayError('model_not_found', { model: shown }, { param: 'model', ...message })
}

function namesFor(principal: Principal | undefined, catalog: Catalog): readonly string[] {
  return catalog.models
    .filter((model) => isListed(model, principal, catalog))
    .slice(0, compared)
    .flatMap(({ name, aliases }) => [name, ...aliases])
}
