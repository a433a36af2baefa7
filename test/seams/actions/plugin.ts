import { GatewayError, defineAction, defineErrors, definePlugin } from 'sluice'
import { answered, listOf, pageOf, pull } from 'sluice/kit'

declare module 'sluice' {
  interface ErrorCodes {
    storm_warning: true
  }
}

const errors = defineErrors({
  storm_warning: { status: 409, retry: 'same', message: '{who} stays below deck in a storm.' },
})

const lantern = {
  type: 'object',
  additionalProperties: false,
  required: ['name', 'lit'],
  properties: {
    name: { type: 'string', description: 'What it is called.' },
    lit: { type: 'boolean', description: 'Whether it burns.' },
  },
} as const

const lanterns = ['bow', 'mast', 'stern'].map((name) => ({ name, lit: name !== 'mast' }))

const list = defineAction({
  name: 'list-lanterns',
  summary: 'List the lanterns.',
  route: 'GET /acme/lanterns',
  access: { role: 'viewer' },
  query: listOf({
    filters: { lit: { type: 'boolean', description: 'Those that burn, or those that do not.' } },
    sorts: ['name'],
    usual: 'name',
  }),
  answer: pageOf(lantern),
  run({ query }) {
    const lit = query.flag('lit')
    return query.page(
      lanterns.filter((one) => lit === undefined || one.lit === lit),
      ({ name }) => [name, name],
    )
  },
})

const hang = defineAction({
  name: 'hang-lantern',
  summary: 'Hang a lantern.',
  route: 'POST /acme/lanterns',
  access: { role: 'admin' },
  query: {
    storm: { type: 'boolean', description: 'Whether there is a storm.' },
    hours: { type: 'integer', default: 3, description: 'How many hours it burns.' },
  },
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['name'],
    properties: {
      name: { type: 'string', minLength: 1, description: 'What it is called.' },
      lit: { type: 'boolean', default: true, description: 'Whether it burns.' },
    },
  },
  answer: lantern,
  status: 201,
  writes: { not: 'nothing is kept' },
  before({ principal: { name } }) {
    if (name === 'tom') throw new GatewayError('storm_warning', { who: name })
  },
  run({ body: { name, lit }, query, by, ingress }) {
    const headers = {
      'x-by': `${by.principal?.name} ${query.flag('storm') ?? false}`,
      'x-hours': `${query.number('hours')}`,
    }
    return answered({ name, lit }, { version: 1, location: `${ingress.path}/${name}`, headers })
  },
})

const show = defineAction({
  name: 'show-lantern',
  summary: 'Show a lantern.',
  route: 'GET /acme/lanterns/:name',
  access: { key: true },
  answer: lantern,
  run({ params: { name } }) {
    const found = lanterns.find((one) => one.name === name)
    if (!found) throw new GatewayError('not_found')
    return found
  },
})

const drown = defineAction({
  name: 'drown-lantern',
  summary: 'Throw a lantern overboard.',
  route: 'DELETE /acme/lanterns/:name',
  access: { role: 'any', also: ['pending'] },
  writes: { not: 'nothing is kept' },
  run: () => undefined,
})

const knock = defineAction({
  name: 'knock',
  summary: 'Say whether anybody is there.',
  route: 'GET /acme/door',
  access: { public: true, reason: 'whoever knocks is a stranger' },
  answer: { type: 'object', properties: { who: { type: ['string', 'null'], description: 'Who knocks.' } } },
  run: ({ principal }) => ({ who: principal ?? null }),
})

const signals = defineAction({
  name: 'send-signals',
  summary: 'Send light signals.',
  route: 'GET /acme/signals',
  access: { role: 'viewer' },
  stream: 'lines',
  answer: lantern,
  run: () =>
    pull(
      (async function* () {
        for (const one of lanterns) yield Buffer.from(`${JSON.stringify(one)}\n`)
      })(),
    ),
})

export default definePlugin({
  name: 'lanterns',
  summary: 'Lanterns.',
  errors,
  actions: [list, hang, show, drown, knock, signals],
})
