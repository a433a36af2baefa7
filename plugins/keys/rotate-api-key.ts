import { defineStage } from '../../engine/index.ts'
import { duration, durationSchema, jsonReply, requesterOf, versionsIn } from '../../engine/kit.ts'
import { KeyAnswers, needed, notFound } from './key-answers.ts'
import { ofWhom, ownerOf } from './key-body.ts'
import { reached } from './stored-keys.ts'

/** Gives an API key of the database another text, and returns the key with it. */
export default defineStage({
  name: 'rotate-api-key',
  summary: 'Give an API key another text.',
  config: ofWhom,
  body: {
    type: 'object',
    additionalProperties: false,
    properties: {
      grace: {
        ...durationSchema,
        title: 'Grace',
        default: '0s',
        'x-maximum': '7d',
        description: 'How long the text before serves, too, at most 7d.',
      },
    },
  } as const,
  uses: needed,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  build({ of }, host, services) {
    const answers = new KeyAnswers(host, services)
    return async ({ ingress, principal, input }, scope) => {
      const { key } = await answers.findStored(ingress, { principal, of })
      const by = requesterOf(scope, { ingress, principal })
      const how = { by, ...ownerOf(principal, of), ...versionsIn(ingress), grace: duration(input.grace) }
      const made = await reached(() => services.api_keys.rotate(key.id, how))
      if (made === undefined) throw notFound(key.id)
      const body = await answers.stored(key.id)
      return { reply: jsonReply({ ...body, key: made.text }, { version: body['version'] as number }) }
    }
  },
})
