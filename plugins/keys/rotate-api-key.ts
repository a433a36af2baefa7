import { defineAction } from '../../engine/index.ts'
import { duration, durationSchema, versionsIn } from '../../engine/kit.ts'
import { KeyAnswers, answeredKey, needed, notFound, textShape } from './key-answers.ts'
import { ownerOf, placeOf } from './key-body.ts'
import type { Whose } from './key-body.ts'
import { requireSelfService } from './require-self-service.ts'
import { reached } from './stored-keys.ts'

/** Gives an API key of the database another text, and answers the key with it. */
export function rotateApiKey(of: Whose) {
  const { name, path, access, word } = placeOf('rotate', of)
  return defineAction({
    name,
    summary: `Give ${word} another text.`,
    route: `POST ${path}/:id/rotate`,
    access,
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
    },
    answer: textShape,
    errors: ['self_service_off', 'declared_in_file', 'stale_version'],
    writes: 'own audit row',
    uses: [...needed, 'key_policy', 'audit'],
    before: (asked, services) => requireSelfService(asked, services, { name, of }),
    async run({ params, principal, by, body, ingress }, services, _scope, host) {
      const answers = new KeyAnswers(host, services)
      const { key } = await answers.findStored(params.id, { principal, of })
      const how = { by, ...ownerOf(principal, of), ...versionsIn(ingress), grace: duration(body.grace) }
      const made = await reached(() => services.api_keys.rotate(key.id, how))
      if (made === undefined) throw notFound(key.id)
      return answeredKey({ ...(await answers.stored(key.id)), key: made.text })
    },
  })
}
