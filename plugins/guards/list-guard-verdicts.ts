import { defineAction } from '../../engine/index.ts'
import { shape, timeText } from '../../engine/kit.ts'

const day = 86_400_000

/** Answers the figures of all guards, per day. */
export default defineAction({
  name: 'list-guard-verdicts',
  summary: 'Answer how guards have judged, per day: live beside shadow.',
  route: 'GET /api/guards/verdicts',
  access: { role: 'admin' },
  query: {
    days: { type: 'integer', minimum: 1, maximum: 400, default: 30, description: 'How many days, with today.' },
    guard: { type: 'string', maxLength: 64, description: 'Name of one guard.' },
  },
  answer: shape.all(
    shape.object({
      day: shape.text('The day in UTC, such as 2026-11-27.'),
      guard: shape.text('Name of the guard.'),
      side: shape.word(['input', 'output'], 'What it judged.'),
      shadow: shape.flag('Whether it changed nothing: the outcome is what it would have done.'),
      outcome: shape.word(['passed', 'error', 'flagged', 'masked', 'retried', 'fallback', 'denied'], 'What followed.'),
      verdicts: shape.integer('How many times.'),
      milliseconds: shape.number('How long it took on average.'),
      longest: shape.number('How long it took at most, in milliseconds.'),
    }),
  ),
  uses: ['guards'],
  async run({ query }, { guards }) {
    const since = timeText(Date.now() - ((query.number('days') ?? 30) - 1) * day).slice(0, 10)
    const guard = query.text('guard')
    const all = await guards.verdicts(since)
    return { data: all.filter((one) => guard === undefined || one.guard === guard) }
  },
})
