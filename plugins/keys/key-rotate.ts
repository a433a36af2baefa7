import { Refusal, defineCommand } from '../../engine/index.ts'
import { duration, durationSchema } from '../../engine/kit.ts'
import { searchKey } from './search-key.ts'

/** The longest grace, in milliseconds. */
const longest = duration('7d')

/** Gives an API key of the database another text, and prints it once. */
export default defineCommand({
  name: 'key rotate',
  summary: 'Give an API key another text and print it once.',
  options: {
    type: 'object',
    additionalProperties: false,
    required: ['key'],
    properties: {
      key: { type: 'string', description: 'Its name or its id.' },
      grace: {
        ...durationSchema,
        default: '0s',
        description: 'How long the text before is accepted, too, such as 24h; at most 7d.',
      },
    },
  } as const,
  arguments: ['key'],
  words: { grace: { value: 'duration' } },
  uses: ['api_keys'],
  async run({ key, grace }, { api_keys: keys }, { json, out, error }) {
    if (duration(grace) > longest) throw new Refusal(`the grace ${grace} is longer than 7d`)
    const { found, why } = await searchKey(keys, key, 'change')
    const made = found && (await keys.rotate(found.id, { by: 'cli', grace: duration(grace) }))
    if (made === undefined) {
      error(`sluice: the API key "${key}" ${why ?? 'is revoked already'}`)
      return 1
    }
    out(json ? JSON.stringify({ id: made.id, name: found?.name, key: made.text }) : made.text)
    error(
      duration(grace) > 0
        ? `Running gateways accept it now, and the text before for ${grace}.`
        : 'Running gateways accept it now. They reject the text before within a second.',
    )
    return 0
  },
})
