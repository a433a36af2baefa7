import { hash } from 'node:crypto'
import { definePlugin, defineStage, noConfig } from 'sluice'
import type { Candidate, Envelope, GenerateEvent, GenerateReply } from 'sluice'
import { Fold, answering, duration, durationSchema, parseVerbatim } from 'sluice/kit'

const ttl = { ...durationSchema, default: '1h', description: 'How long an answer is kept.' } as const
const config = { type: 'object', additionalProperties: false, properties: { ttl } } as const

/** The same for every request of an API key that asks the same of the same model, in whatever protocol. */
function keyOf(request: Envelope, { model, origin }: Candidate, keyId = ''): string | undefined {
  if (request.operation !== 'generate' || request.missing) return undefined
  const { stream: _, streamUsage: __, store: ___, ...asked } = request.neutral('generate')
  return `cache:${hash('sha256', JSON.stringify([keyId, model.name, origin, asked]))}`
}

const find = defineStage({
  name: 'cache.find',
  summary: 'Give the answer that the same request had before.',
  config: noConfig,
  needs: ['request', 'model'],
  reads: ['principal'],
  provides: [],
  gives: ['answer'],
  build:
    (_, { keyValue }) =>
    async ({ request, model, principal }, scope) => {
      const key = keyOf(request, model, principal?.id)
      const held = key && (await keyValue.get(key).catch(() => undefined)) // a store that fails fails no exchange
      scope.note('cache', held ? 'hit' : 'miss')
      if (!held) return {}
      const reply = parseVerbatim(Buffer.from(held.value).toString(), 'all') as GenerateReply
      return { answer: answering('generate', { kind: 'neutral-reply', reply, unasked: true }) }
    },
})

const keep = defineStage({
  name: 'cache.keep',
  summary: 'Keep the answer for the same request.',
  config,
  needs: ['request', 'model', 'answer'],
  reads: ['principal'],
  provides: ['answer'],
  build:
    ({ ttl }, { keyValue, log }) =>
    ({ request, model, answer, principal }) => {
      const key = keyOf(request, model, principal?.id)
      if (key === undefined) return { answer }
      const answered = new Fold()
      const look = (event: GenerateEvent) => {
        answered.add(event)
        if (event.type !== 'finish' || event.stop === 'length') return
        const { id: _, created: __, ...reply } = answered.reply()
        const kept = keyValue.set(key, Buffer.from(JSON.stringify(reply)), { ttl: duration(ttl) })
        kept.catch((error: unknown) => log.warn({ err: error }, 'an answer could not be kept'))
      }
      return { answer: answer.watch(look) }
    },
})

export default definePlugin({ name: 'cache', summary: 'Keeps answers.', stages: [find, keep] })
