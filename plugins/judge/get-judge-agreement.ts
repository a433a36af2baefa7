import { GatewayError, defineAction } from '../../engine/index.ts'
import { shape, tiers, timeText } from '../../engine/kit.ts'

const MONTH = 30 * 86_400_000

/** Answers how often the judge has said what where the signals said what: by default within the last 30 days. */
export default defineAction({
  name: 'get-judge-agreement',
  summary: 'Answer how often the judge of smart routing agrees with the signals.',
  route: 'GET /api/routing/judge/agreement',
  access: { role: 'admin' },
  query: {
    since: { type: 'string', format: 'date-time', description: 'Earliest time of the requests; default: 30 days ago.' },
  },
  answer: shape.object({
    since: shape.time('Earliest time of the requests.'),
    rows: shape.integer('Number of judged requests.'),
    data: shape.list(
      shape.object({
        ensemble: shape.word(tiers, 'What the signals said.'),
        judge: shape.word(tiers, 'What the judge said.'),
        count: shape.integer('How often.'),
        shadow: shape.flag('Whether the judge had no effect.'),
      }),
      'How often each pair was said.',
    ),
  }),
  uses: ['judging'],
  async run({ query }, { judging }) {
    const since = query.time('since') ?? Date.now() - MONTH
    const data = await judging.agreement(since).catch((cause: unknown) => {
      throw new GatewayError('store_unavailable', {}, { cause })
    })
    return { since: timeText(since), rows: data.reduce((sum, { count }) => sum + count, 0), data }
  },
})
