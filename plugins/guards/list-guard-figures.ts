import { defineAction } from '../../engine/index.ts'
import { shape, timeText } from '../../engine/kit.ts'

const day = 86_400_000

/** Answers what each guard did over some days. */
export default defineAction({
  name: 'list-guard-figures',
  summary: 'Answer what each guard did over some days: live beside shadow.',
  route: 'GET /api/guards/figures',
  access: { role: 'admin' },
  query: {
    days: { type: 'integer', minimum: 1, maximum: 400, default: 30, description: 'How many days, with today.' },
  },
  answer: shape.all(
    shape.object({
      guard: shape.text('Name of the guard.'),
      side: shape.word(['input', 'output'], 'What it judged.'),
      shadow: shape.flag('Whether it changed nothing.'),
      verdicts: shape.integer('How many times it judged.'),
      hits: shape.integer('How many times it found something.'),
      errors: shape.integer('How many times it could not judge.'),
      p50: shape.orNull(shape.number('How long half of them took at most, in milliseconds, up to 19 % too high.')),
      p95: shape.orNull(shape.number('How long 95 of 100 took at most, in milliseconds, up to 19 % too high.')),
      longest: shape.number('How long it took at most, in milliseconds.'),
    }),
  ),
  uses: ['guards'],
  async run({ query }, { guards }) {
    const since = timeText(Date.now() - ((query.number('days') ?? 30) - 1) * day).slice(0, 10)
    return { data: await guards.figures(since) }
  },
})
