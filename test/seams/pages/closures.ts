import { GatewayError, defineAction, defineErrors, definePlugin, defineRecord, defineStage, noConfig } from 'sluice'
import type { ConfigOf } from 'sluice'
import { listOf, pageOf, shape } from 'sluice/kit'

const schema = {
  type: 'object',
  additionalProperties: false,
  required: ['name', 'model'],
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 64, description: 'Name of the closure.' },
    model: { type: 'string', 'x-names': 'model', description: 'Model that is closed.' },
    reason: { type: 'string', maxLength: 400, default: '', description: 'What clients are told.' },
    kind: { enum: ['planned', 'urgent'], default: 'planned', description: 'How it came.' },
    until: { type: ['string', 'null'], format: 'date-time', default: null, description: 'When it ends by itself.' },
    lifted: { type: 'boolean', default: false, description: 'Whether an admin lifted it.' },
  },
} as const
type Closure = ConfigOf<typeof schema>

declare module 'sluice' {
  interface Records {
    closure: Closure
  }
  interface ErrorCodes {
    model_closed: true
  }
}

const errors = defineErrors({
  model_closed: { status: 503, retry: 'other', message: 'The model "{model}" is closed. {reason}' },
})

const closure = defineRecord({
  name: 'closure',
  summary: 'Models that are closed for a time.',
  place: 'closures',
  route: '/api/closures',
  schema,
  page: {
    title: 'Closures',
    group: 'configure',
    icon: 'lock',
    columns: ['name', 'model', 'kind', 'until', 'lifted'],
    facts: ['reason', 'source'],
  },
})

/** In place of the list that the type of record brings: viewers may read it. */
const list = defineAction({
  name: 'list-closures',
  summary: 'Answer a page of the closures.',
  route: 'GET /api/closures',
  access: { role: 'viewer' },
  query: listOf({
    filters: {
      model: { type: 'string', description: 'Closures of this model.' },
      lifted: { type: 'boolean', description: 'Those that were lifted, or those that were not.' },
      search: { type: 'string', description: 'Part of the name.' },
    },
    sorts: ['name', 'model'],
    usual: 'name',
  }),
  answer: pageOf(shape.object({ ...schema.properties, source: shape.word(['file', 'database'], 'Where it is kept.') })),
  run({ query }, _services, _scope, { records }) {
    const [models, lifted] = [query.values('model'), query.flag('lifted')]
    const fits = ({ name, model, lifted: isLifted }: Closure) =>
      name.toLowerCase().includes(query.search) &&
      (models?.includes(model) ?? true) &&
      (lifted ?? isLifted) === isLifted
    const rows = records.of('closure').map(({ value, source }) => ({ ...(value as Closure), source }))
    return query.page(rows.filter(fits), (row) => [row[query.sort as 'name' | 'model'], row.name])
  },
})

const lift = defineAction({
  name: 'lift-closure',
  summary: 'Lift a closure.',
  route: 'POST /api/closures/:name/lift',
  access: { role: 'admin' },
  writes: { record: 'closure' },
  async run({ params: { name }, by }, _services, _scope, { records }) {
    await records.change({ kind: 'change', type: 'closure', name, patch: { lifted: true } }, by)
  },
})

const heed = defineStage({
  name: 'heed-closures',
  summary: 'Refuse requests for models that are closed.',
  config: noConfig,
  needs: ['request'],
  provides: [],
  build(_config, { records }) {
    const all = records.of('closure').map(({ value }) => value as Closure)
    return ({ request: { model } }) => {
      const found = all.find((one) => one.model === model && !one.lifted && !(Date.parse(one.until ?? '') < Date.now()))
      if (found) throw new GatewayError('model_closed', { model, reason: found.reason })
      return {}
    }
  },
})

const parts = { errors, records: [closure], actions: [list, lift], stages: [heed] }
export default definePlugin({ name: 'closures', summary: 'Closes models for a time.', ...parts })
