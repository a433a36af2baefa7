import {
  GatewayError,
  Refusal,
  definePlugin,
  defineProvider,
  defineRecord,
  defineService,
  defineStage,
  noConfig,
} from 'sluice'
import type { ConfigOf } from 'sluice'

const schema = {
  type: 'object',
  additionalProperties: false,
  required: ['name', 'model'],
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 64, description: 'What it is called.' },
    model: { type: 'string', 'x-names': 'model', description: 'What it asks.' },
    parent: { type: 'string', 'x-names': 'team', description: 'The team that it is a part of.' },
    size: { type: 'integer', minimum: 1, default: 1, description: 'How many people it has.' },
    token: { type: 'string', minLength: 8, description: 'What it shows to come in.' },
  },
} as const

const signSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  properties: {
    name: { type: 'string', description: 'Whatever it says.' },
    limit: { type: 'integer', description: 'How fast one may go.' },
  },
} as const

declare module 'sluice' {
  interface Records {
    team: ConfigOf<typeof schema>
    sign: ConfigOf<typeof signSchema>
  }
  interface Services {
    diary: { readonly entries: () => Promise<readonly { readonly line: string }[]> }
    doors: { readonly opens: (team: string, token: string) => boolean; readonly open: readonly string[] }
  }
  interface Tables {
    diary: { line: string }
  }
}

const team = defineRecord({
  name: 'team',
  summary: 'Teams.',
  place: 'teams',
  schema,
  secrets: ['token'],
  check({ name, parent, size }, all, report) {
    if (parent === name) report(['parent'], 'circle', 'a team is no part of itself')
    const people = all.of('team').reduce((sum, one) => sum + one.size, 0)
    if (people > 100) report(['size'], 'crowd', `${size} of ${people} people are too many`)
  },
})

/** Says nothing of its name. */
const sign = defineRecord({ name: 'sign', summary: 'Signs.', place: 'signs', schema: signSchema })

/** Writes down who changed what. */
const diary = defineService({
  name: 'diary',
  summary: 'What was changed.',
  migrations: [
    {
      name: 'lines',
      async up(queries) {
        await queries.schema.createTable('diary').addColumn('line', 'text').execute()
      },
    },
  ],
  open: (host) => ({
    configure: () => ({ view: { entries: () => host.rows('select line from diary') } }),
    async witness(transaction, { kind, type, name, before, after }, by) {
      if (name === 'nobody') throw new Error('this is not written down')
      const sizes = [before, after].map((one) => (one ? JSON.stringify(one.value['size'] ?? null) : '-')).join('>')
      await transaction
        .insertInto('diary')
        .values({ line: `${by?.principal?.name}: ${kind} ${type} ${name} ${sizes}` })
        .execute()
    },
  }),
})

/** Knows the tokens of the teams of its configuration. */
const doors = defineService({
  name: 'doors',
  summary: 'Who comes in.',
  open: () => ({
    configure(_settings, _views, { records }) {
      const open = records.of('team').flatMap(({ name, token }) => (token === undefined ? [name] : []))
      const opens = (team: string, token: string) => records.find('team', team)?.token === token
      return { view: { opens, open } }
    },
  }),
})

/** Answers whether a token opens the door of a team, and which doors stand open. */
const knock = defineStage({
  name: 'team-knock',
  summary: 'Answer whether a token opens the door of a team.',
  config: noConfig,
  needs: ['ingress'],
  provides: ['reply'],
  uses: ['doors'],
  build:
    (_, _host, services) =>
    ({ ingress: { params, query } }) => {
      const { opens, open } = services.doors
      const value = { opens: opens(params['name'] ?? '', query.get('token') ?? ''), open: [...open] }
      return { reply: { status: 200, headers: {}, body: { kind: 'json', value } } }
    },
})

/** Answers what a team of the running configuration asks. */
const ask = defineStage({
  name: 'team-model',
  summary: 'Answer the model of a team.',
  config: noConfig,
  needs: ['ingress'],
  provides: ['reply'],
  build:
    (_, { records }) =>
    ({ ingress }) => {
      const found = records.find('team', ingress.params['name'] ?? '')
      if (found === undefined || found.problem !== undefined) throw new GatewayError('not_found', {})
      return { reply: { status: 200, headers: {}, body: { kind: 'json', value: found.value['model'] ?? null } } }
    },
})

/** A provider that may refuse to be opened with settings that its schema accepts. */
const moody = defineProvider({
  name: 'moody',
  summary: 'Answers when it likes.',
  config: {
    type: 'object',
    additionalProperties: false,
    properties: { mood: { type: 'string', default: 'good', description: 'How it feels.' } },
  } as const,
  offers: () => [{ operation: 'generate' }],
  open({ mood }) {
    if (mood === 'bad') throw new Refusal('it does not feel like it', ['mood'])
    return {}
  },
})

export default definePlugin({
  name: 'teams',
  summary: 'Teams.',
  records: [team, sign],
  services: [diary, doors],
  stages: [ask, knock],
  providers: [moody],
})
