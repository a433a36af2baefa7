import { GatewayError, Refusal, defineCommand } from '../../engine/index.ts'
import type { RateLimit } from '../../engine/index.ts'
import { isMoment, isName } from './api-key.ts'
import { NameTaken } from './stored-keys.ts'
import type { KeyFields, Tags } from './known-key.ts'

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
      owner: {
        type: 'string',
        description: 'Member whose models, budget and limits bind the key, too: username or id.',
      },
      budget: {
        type: 'number',
        minimum: 0,
        description: 'US dollars that the key may spend per period; default: all.',
      },
      period: {
        enum: ['day', 'week', 'month', 'total'],
        default: 'month',
        description: 'Calendar period of the budget, in UTC.',
      },
      rate_limit: {
        type: 'array',
        items: { type: 'string' },
        description:
          'Limits such as requests=60, tokens=100000 and concurrency=5, separated by spaces or commas, and period=60s for the first two (default: 60s).',
      },
      tags: {
        type: 'array',
        items: { type: 'string' },
        description: 'Labels for the request log, such as team:red, separated by spaces or commas.',
      },
      expires: { type: 'string', description: 'When the key expires, such as 2027-01-31 or 2027-01-31T12:00:00Z.' },
    },
  } as const,
  words: {
    models: { value: 'names' },
    owner: { value: 'member' },
    budget: { value: 'usd' },
    rate_limit: { value: 'limits' },
    tags: { value: 'labels' },
    expires: { value: 'date' },
  },
  uses: ['api_keys', 'members'],
  async run(options, { api_keys: keys, members }, { json, out, error }) {
    const { name, models, owner: member, budget, period, rate_limit: limits, tags, expires } = options
    if (!isName(name)) throw new Refusal('the name of a key is 1 to 256 characters without spaces')
    const owner = member === undefined ? undefined : (members.find(member) ?? members.named(member))
    if (member !== undefined && owner === undefined)
      throw new Refusal(`"${member}" is neither the username nor the id of a member`)
    const wanted: KeyFields = {
      name,
      ...(models && { models: wordsIn(models) }),
      ...(owner && { owner: owner.id }),
      ...(budget !== undefined && { budget: { usd: budget, period } }),
      ...(limits && { rateLimit: rateLimitIn(wordsIn(limits)) }),
      ...(tags && { tags: tagsIn(wordsIn(tags)) }),
      ...momentOf(expires),
    }
    try {
      const { id, text } = await keys.create(wanted, 'cli')
      out(json ? JSON.stringify({ id, name, key: text }) : text)
      error('Running gateways accept it now.')
      return 0
    } catch (thrown) {
      // The options of a key that its type does not accept are wrong use.
      if (thrown instanceof GatewayError && thrown.code === 'invalid_configuration') throw new Refusal(thrown.message)
      if (!(thrown instanceof NameTaken)) throw thrown
      error(`sluice: ${thrown.message}`)
      return 1
    }
  },
})

function wordsIn(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => text.split(',')).map((word) => word.trim())
}

function rateLimitIn(words: readonly string[]): RateLimit {
  const counted = ['requests', 'tokens', 'concurrency']
  const pairs = words.map((word) => {
    const [name = '', value = ''] = word.split('=', 2)
    if (counted.includes(name) && /^\d+$/.test(value)) return [name, Number(value)]
    if (name === 'period' && value !== '') return [name, value]
    throw new Refusal(`"${word}" is no limit; write it like requests=60, tokens=100000, concurrency=5 or period=60s`)
  })
  return { period: '60s', ...Object.fromEntries(pairs) } as RateLimit
}

function tagsIn(words: readonly string[]): Tags {
  const pairs = words.map((word) => {
    const colon = word.indexOf(':')
    if (colon < 1) throw new Refusal(`"${word}" is no label; write it like team:red`)
    return [word.slice(0, colon), word.slice(colon + 1)]
  })
  return Object.fromEntries(pairs) as Tags
}

function momentOf(text: string | undefined): Pick<KeyFields, 'expiresAt'> {
  if (text === undefined) return {}
  if (!isMoment(text)) throw new Refusal(`"${text}" is no date; write it like 2027-01-31 or 2027-01-31T12:00:00Z`)
  const expiresAt = Date.parse(text)
  if (expiresAt <= Date.now()) throw new Refusal(`"${text}" has passed already`)
  return { expiresAt }
}
