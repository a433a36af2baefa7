import type { Amendment, Envelope } from '../../engine/index.ts'
import { object } from './values.ts'

/** Of the options of a stream only the padding of events goes on to a provider. */
const forwarded = 'include_obfuscation'

export function amend({ body }: Pick<Envelope, 'body'>): Amendment | undefined {
  const options = object(body['stream_options'])
  const others = options && Object.keys(options).filter((name) => name !== forwarded)
  if (!options || !others || others.length === 0) return undefined
  const { [forwarded]: padding } = options
  return {
    fields: { stream_options: padding === undefined ? null : { [forwarded]: padding } },
    losses: others.map((name) => ({ field: `stream_options.${name.slice(0, 64)}`, because: 'it is not passed on' })),
  }
}
