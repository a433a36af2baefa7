import type { Json, Located } from '../../../engine/index.ts'
import { GatewayError } from '../../../engine/index.ts'

type Address = Parameters<Located['read']>[0]

/** The model stands in the address, before the verb. */
export const locatedModel: Located = {
  fields: ['model'],
  read: (address) => {
    const model = modelOf(address)
    return model === undefined ? undefined : { model }
  },
  repeats,
}

/** So does whether the answer is streamed. */
export const located: Located = {
  fields: ['model', 'stream'],
  read: (address) => {
    const model = modelOf(address)
    if (model === undefined) return undefined
    const stream = address.path.endsWith(':streamGenerateContent')
    // Without it the vendor streams one long JSON list, which no official client asks for.
    if (stream && address.query.get('alt') !== 'sse')
      throw new GatewayError('invalid_value', { param: 'alt', reason: 'streams are served as `?alt=sse`' })
    return { model, stream }
  },
  repeats,
}

/** The vendor's own examples repeat the model in some bodies, as a resource. */
function repeats(stated: Json, model: Json): boolean {
  return typeof stated === 'string' && typeof model === 'string' && resourceOf(stated) === resourceOf(model)
}

function modelOf({ params, query }: Address): string | undefined {
  const model = params['*']
  if (model !== undefined && query.has('key'))
    throw new GatewayError('invalid_value', {
      param: 'key',
      reason: 'addresses end up in logs. The key goes into the header x-goog-api-key',
    })
  return model
}

/** The vendor's name of a model as a resource, as some bodies say it once more. */
export function resourceOf(model: string): string {
  return model.startsWith('models/') ? model : `models/${model}`
}
