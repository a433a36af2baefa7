import type { Amendment, Envelope, Failure, JsonObject, Offer } from '../../engine/index.ts'
import { amendedSampling } from '../../engine/kit.ts'
import { ciphertext } from './reasoning.ts'
import { isList, object } from './values.ts'

/** Of the options of a stream only the padding of events goes on to a provider. */
const forwarded = 'include_obfuscation'

/** Models that have refused ciphertext, by the offer of their provider. */
const unable = new WeakMap<Offer, Set<string>>()

/**
 * Requests sealed reasoning of a vendor that stores responses: the gateway's own copy of a conversation continues
 * without the vendor's, and would lose it. Leaves out options of streams that are not the vendor's, and sampling that the
 * model refuses.
 */
export function amend({ body }: Pick<Envelope, 'body'>, offer: Offer, model: string): Amendment | undefined {
  const sampled = amendedSampling(body, object(body['reasoning'])?.['effort'], { offer, model })
  const parts = [amendedOptions(body), sampled].filter((part) => part !== undefined)
  const lacks = lacksCiphertext(body, offer, model)
  if (parts.length === 0 && !lacks) return undefined
  const { include } = body
  const fields = Object.assign({}, ...parts.map((part) => part.fields)) as JsonObject
  const losses = parts.flatMap((part) => part.losses ?? [])
  if (!lacks) return { fields, losses }
  return {
    fields: { ...fields, include: [...(isList(include) ? include : []), ciphertext] },
    losses,
    refused: (failure) => refuses(failure, isList(include) && include.length > 0, offer, model),
  }
}

function amendedOptions(body: JsonObject): Pick<Amendment, 'fields' | 'losses'> | undefined {
  const options = object(body['stream_options'])
  const others = options && Object.keys(options).filter((name) => name !== forwarded)
  if (!options || !others || others.length === 0) return undefined
  const { [forwarded]: padding } = options
  return {
    fields: { stream_options: padding === undefined ? null : { [forwarded]: padding } },
    losses: others.map((name) => ({ field: `stream_options.${name.slice(0, 64)}`, because: 'it is not passed on' })),
  }
}

function lacksCiphertext(body: JsonObject, offer: Offer, model: string): boolean {
  const { stores, encrypted_reasoning: sealed, conversations } = offer.traits ?? {}
  const { include = null, conversation = null, store } = body
  // A client that keeps its conversation itself asks for what it wants to keep.
  if (store === false) return false
  // A conversation that the vendor holds keeps its reasoning there.
  if (stores !== true || sealed === false || conversations === 'vendor' || conversation !== null) return false
  if (include !== null && (!isList(include) || include.includes(ciphertext))) return false
  return object(body['reasoning'])?.['effort'] !== 'none' && !unable.get(offer)?.has(model)
}

/**
 * Models without reasoning answer 400 "Encrypted content is not supported with this model", with `param: include`. Where
 * the client includes something itself, a refusal of `include` may be about that.
 */
function refuses({ status, param, message }: Failure, others: boolean, offer: Offer, model: string): boolean {
  const isOurs =
    /encrypted content is not supported/i.test(message) || (!others && param?.startsWith('include') === true)
  if (status !== 400 || !isOurs) return false
  const models = unable.get(offer) ?? new Set()
  unable.set(offer, models.add(model))
  return true
}
