import { GatewayError } from '../../engine/index.ts'
import type { Given, GenerateReply, Host, Services } from '../../engine/index.ts'
import { moduleBeside, parsedJson } from '../../engine/kit.ts'
import type { Fitting } from './fits-schema.ts'

type Answered = Given<never, 'request' | 'model' | 'upstream' | 'answer'>

/** The decision that was answered. */
type Decided = Parameters<Services['experience']['observed']>[0]

const module = moduleBeside('fits-schema', import.meta.url)

/** Most characters of a schema and of an answer that are looked at, and most answers at the same time. */
const most = { schema: 65_536, text: 262_144, checks: 2 }
/** Milliseconds that a check may take. */
const deadline = 1_000

/** Learns from whole answers whether models keep to the JSON schemas that clients demand. */
export class SchemaEvidence {
  readonly #host: Host
  readonly #experience: Pick<Services['experience'], 'observed'>
  #checks = 0

  constructor(host: Host, experience: Pick<Services['experience'], 'observed'>) {
    this.#host = host
    this.#experience = experience
  }

  /** Never waits. */
  look(decided: Decided, slots: Answered): void {
    const format = slots.request?.neutral('generate').format
    if (format?.type !== 'schema' || this.#checks >= most.checks) return
    const text = textOf(slots, this.#host)
    if (text === undefined || text.length > most.text || JSON.stringify(format.schema).length > most.schema) return
    const value = parsedJson(text)
    if (value === undefined) return this.#experience.observed(decided, 'implicit:schema', 0)
    this.#checks += 1
    const given: Fitting = { schema: format.schema, value }
    this.#host
      .work<boolean | undefined>(module, given, deadline)
      .then((fits) => {
        if (fits !== undefined) this.#experience.observed(decided, 'implicit:schema', fits ? 1 : 0)
      })
      .catch((error: unknown) => {
        this.#host.log.debug({ err: error, id: decided.id }, 'an answer could not be compared with its schema')
      })
      .finally(() => {
        this.#checks -= 1
      })
  }
}

/** The text of a whole answer that the model ended itself; undefined: there is none. */
function textOf(slots: Answered, host: Host): string | undefined {
  const reply = replyOf(slots, host)
  if (reply?.stop !== 'end') return undefined
  const parts = reply.items.flatMap((item) => (item.type === 'message' ? item.content : []))
  return parts.every(({ type }) => type === 'text')
    ? parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
    : undefined
}

function replyOf({ model, upstream, answer }: Answered, host: Host): GenerateReply | undefined {
  if (answer?.kind === 'neutral-reply') return answer.reply as GenerateReply
  if (answer?.kind !== 'whole' || !model) return undefined
  const { reply } = host.upstreamCodec(model.offer.protocol ?? '')
  try {
    return reply?.parse(answer.body, upstream?.restore, model.offer) as GenerateReply | undefined
  } catch (error) {
    // An answer that cannot be read has failed, and that is told elsewhere.
    if (error instanceof GatewayError) return undefined
    throw error
  }
}
