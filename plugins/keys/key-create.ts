import { Refusal, defineCommand } from '../../engine/index.ts'
import { isMoment, isName } from './api-key.ts'
import { NameTaken } from './stored-keys.ts'
import type { KeyFields } from './known-key.ts'

/** Creates an API key and prints its text once. */
export default defineCommand({
  name: 'key create',
  summary: 'Create an API key and print it once.',
  group: 'Manage API keys.',
  options: {
    type: 'object',
    additionalProperties: false,
    required: ['name'],
    properties: {
      name: { type: 'string', description: 'Name of the key in logs.' },
      models: {
        type: 'array',
        items: { type: 'string' },
        description: 'Models that the key may use, separated by spaces or commas; default: all.',
      },
      expires: { type: 'string', description: 'When the key expires, such as 2027-01-31 or 2027-01-31T12:00:00Z.' },
    },
  } as const,
  words: { models: { value: 'names' }, expires: { value: 'date' } },
  uses: ['api_keys'],
  async run({ name, models, expires }, { api_keys: keys }, { json, out, error }) {
    if (!isName(name)) throw new Refusal('the name of a key is 1 to 256 characters without spaces')
    const wanted: KeyFields = { name, ...modelsIn(models), ...momentOf(expires) }
    try {
      const { id, text } = await keys.create(wanted)
      out(json ? JSON.stringify({ id, name, key: text }) : text)
      error('Running gateways accept it now.')
      return 0
    } catch (thrown) {
      if (!(thrown instanceof NameTaken)) throw thrown
      error(`sluice: ${thrown.message}`)
      return 1
    }
  },
})

function modelsIn(texts: readonly string[] | undefined): Pick<KeyFields, 'models'> {
  return texts === undefined ? {} : { models: texts.flatMap((text) => text.split(',')).map((name) => name.trim()) }
}

function momentOf(text: string | undefined): Pick<KeyFields, 'expiresAt'> {
  if (text === undefined) return {}
  if (!isMoment(text)) throw new Refusal(`"${text}" is no date; write it like 2027-01-31 or 2027-01-31T12:00:00Z`)
  const expiresAt = Date.parse(text)
  if (expiresAt <= Date.now()) throw new Refusal(`"${text}" has passed already`)
  return { expiresAt }
}
