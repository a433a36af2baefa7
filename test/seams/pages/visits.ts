import { defineAction, definePlugin } from 'sluice'
import { listOf, pageOf, shape } from 'sluice/kit'

const row = shape.object({
  id: shape.integer('Its number.'),
  who: shape.text('Who came.'),
  at: shape.time('When.'),
  seconds: { ...shape.number('How long.'), 'x-unit': 's' },
  source: shape.text('Where it was noted, which is no word of the gateway.'),
  room: shape.object({ floor: shape.integer('Its floor.'), door: shape.text('Its door.') }, {}, 'Where to.'),
})

let visits = Array.from({ length: 150 }, (_, at) => ({
  id: at + 1,
  who: `visitor ${at + 1}`,
  at: new Date(Date.UTC(2026, 0, 1) + at * 60_000).toISOString(),
  seconds: 10 * (at + 1),
  source: 'file',
  room: { floor: 3, door: 'blue' },
}))

const list = defineAction({
  name: 'visit',
  summary: 'Answer a page of the visits.',
  route: 'GET /api/visits',
  access: { role: 'admin' },
  query: listOf({
    filters: {
      since: { type: 'string', format: 'date-time', description: 'Earliest time.' },
      add: { type: 'integer', description: 'Hours to add to the earliest time.' },
    },
    sorts: ['id'],
    usual: 'id',
  }),
  answer: pageOf(row),
  page: {
    title: 'Visits',
    group: 'watch',
    icon: 'clock',
    columns: ['who', 'at', 'seconds'],
    facts: ['seconds', 'room'],
  },
  run({ query }) {
    const since = (query.time('since') ?? 0) + (query.number('add') ?? 0) * 3_600_000
    return query.page(
      visits.filter(({ at }) => Date.parse(at) >= since),
      ({ id }) => [id, String(id)],
    )
  },
})

const add = defineAction({
  name: 'add-visit',
  summary: 'Add a visit.',
  route: 'POST /api/visits',
  access: { role: 'admin' },
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['who'],
    properties: { who: { type: 'string', minLength: 1, title: 'Visitor', description: 'Who came.' } },
  },
  answer: row,
  status: 201,
  writes: { not: 'nothing is kept' },
  run({ body: { who } }) {
    const made = {
      id: visits.length + 1,
      who,
      at: '2026-01-02T00:00:00.000Z',
      seconds: 1,
      source: 'file',
      room: { floor: 0, door: 'red' },
    }
    visits = [...visits, made]
    return made
  },
})

const remove = defineAction({
  name: 'delete-visit',
  summary: 'Delete a visit.',
  route: 'DELETE /api/visits/:id',
  access: { role: 'admin' },
  writes: { not: 'nothing is kept' },
  run({ params }) {
    visits = visits.filter(({ id }) => String(id) !== params.id)
  },
})

export default definePlugin({ name: 'visits', summary: 'Who came, and when.', actions: [list, add, remove] })
