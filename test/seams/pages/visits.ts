import { defineAction, definePlugin } from 'sluice'
import { listOf, pageOf, shape } from 'sluice/kit'

const row = shape.object({
  id: shape.integer('Its number.'),
  who: shape.text('Who came.'),
  at: shape.time('When.'),
  seconds: { ...shape.number('How long.'), 'x-unit': 's' },
})

const visits = Array.from({ length: 150 }, (_, at) => ({
  id: at + 1,
  who: `visitor ${at + 1}`,
  at: new Date(Date.UTC(2026, 0, 1) + at * 60_000).toISOString(),
  seconds: 10 * (at + 1),
}))

const list = defineAction({
  name: 'visit',
  summary: 'Answer a page of the visits.',
  route: 'GET /api/visits',
  access: { role: 'admin' },
  query: listOf({
    filters: { since: { type: 'string', format: 'date-time', description: 'Earliest time.' } },
    sorts: ['id'],
    usual: 'id',
  }),
  answer: pageOf(row),
  page: { title: 'Visits', group: 'watch', icon: 'clock', columns: ['who', 'at', 'seconds'], facts: ['id', 'seconds'] },
  run({ query }) {
    const since = query.time('since') ?? 0
    return query.page(
      visits.filter(({ at }) => Date.parse(at) >= since),
      ({ id }) => [id, String(id)],
    )
  },
})

export default definePlugin({ name: 'visits', summary: 'Who came, and when.', actions: [list] })
