import { GatewayError, defineAction, defineRecord, defineService, defineStage, definePlugin, noConfig } from 'sluice'
import type { JsonObject, Principal, Requester } from 'sluice'

/** Who is let in by what they wear. */
interface Badges {
  find(code: string): Principal | undefined
  /** Shuts out whoever wears a badge, wherever they are. */
  withdraw(name: string): void
  readonly names: readonly string[]
  /** Makes a badge that is worn from now on. */
  make(value: JsonObject, by: Requester): Promise<Badge>
  /** Makes a badge of which nobody hears. */
  forge(value: JsonObject): Promise<Badge>
}

interface Badge {
  readonly name: string
  readonly code: string
}

declare module 'sluice' {
  interface Services {
    badges: Badges
    ledger: object
  }
  interface Tables {
    badges: Badge
    ledger: { entry: string }
  }
  interface Records {
    badge: Badge
  }
}

const badge = defineRecord({
  name: 'badge',
  summary: 'Badges of guests.',
  place: 'badges',
  schema: {
    type: 'object',
    title: 'guest badge',
    additionalProperties: false,
    required: ['name', 'code'],
    properties: {
      name: { type: 'string', minLength: 1, description: 'Whose it is.' },
      code: { type: 'string', minLength: 3, title: 'print', description: 'What is printed on it.' },
    },
  } as const,
  secrets: ['code'],
  unique: ['code'],
  optional: true,
  holds: 'service',
})

const badges = defineService({
  name: 'badges',
  summary: 'Who is let in.',
  migrations: [
    {
      name: '1-badges',
      async up(queries) {
        const table = queries.schema.createTable('badges').addColumn('name', 'text', (name) => name.primaryKey())
        await table.addColumn('code', 'text', (code) => code.notNull().unique()).execute()
      },
    },
  ],
  async open(host) {
    const withdrawn = new Set<string>()
    const made = new Map((await host.rows<Badge>('select name, code from badges')).map((one) => [one.code, one]))
    return {
      configure(_settings, _services, { records, reject, accept, witness }) {
        const worn = records.of('badge')
        for (const one of worn) if (one.name === 'nobody') reject(one, ['name'], 'no-guest', 'nobody is no guest')
        const view: Badges = {
          find(code) {
            const found = worn.find((one) => one.code === code && !withdrawn.has(one.name)) ?? made.get(code)
            return found && { kind: 'key', id: found.name, name: found.name }
          },
          withdraw(name) {
            withdrawn.add(name)
            host.recheck()
          },
          names: worn.map(({ name }) => name),
          async make(value, by) {
            const one = accept('badge', value)
            const { name, code } = one
            await host.database.transaction().execute(async (transaction) => {
              await transaction.insertInto('badges').values({ name, code }).execute()
              await witness(transaction, { kind: 'create', type: 'badge', name, after: { name, code } }, by)
            })
            made.set(code, one)
            return one
          },
          async forge(value) {
            const one = accept('badge', value)
            await host.database.insertInto('badges').values(one).execute()
            return one
          },
        }
        return { view }
      },
    }
  },
  greet: ({ names }) =>
    names.length === 0
      ? undefined
      : {
          now: { text: `Guests: ${names.join(', ')}.`, json: { guests: [...names] } },
          served: ({ url, catalog }) => ({
            text: `The door is at ${url}/door, behind it ${catalog.models.length} model.`,
          }),
        },
})

/** Writes down every change of a record, by whichever service it is held. */
const ledger = defineService({
  name: 'ledger',
  summary: 'Who has changed what.',
  migrations: [
    {
      name: '1-ledger',
      async up(queries) {
        await queries.schema.createTable('ledger').addColumn('entry', 'text').execute()
      },
    },
  ],
  open: () => ({
    configure: () => ({ view: {} }),
    async witness(transaction, change, by) {
      if (change.name === 'mallory') throw new Error('nobody may know of this')
      const entry = JSON.stringify({ ...change, by: by?.principal?.name })
      await transaction.insertInto('ledger').values({ entry }).execute()
    },
  }),
})

const answer = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string', description: 'Whose it is.' } },
} as const

const make = defineAction({
  name: 'make-badge',
  summary: 'Make a badge.',
  route: 'POST /make',
  access: { key: true },
  body: { type: 'object' },
  answer,
  status: 201,
  writes: { record: 'badge' },
  uses: ['badges'],
  async run({ body, by }, { badges: door }) {
    const { name } = await door.make(body as JsonObject, by)
    return { name }
  },
})

const forge = defineAction({
  name: 'forge-badge',
  summary: 'Make a badge without a row in the audit trail, which no test lets pass.',
  route: 'POST /forge',
  access: { key: true },
  body: { type: 'object' },
  answer,
  status: 201,
  writes: { record: 'badge' },
  uses: ['badges'],
  async run({ body }, { badges: door }) {
    const { name } = await door.forge(body as JsonObject)
    return { name }
  },
})

const enter = defineStage({
  name: 'badge-enter',
  summary: 'Let in whoever wears a badge.',
  config: noConfig,
  needs: ['ingress'],
  provides: ['principal'],
  uses: ['badges'],
  build:
    (_config, _host, { badges: door }) =>
    ({ ingress: { headers } }) => {
      const principal = door.find(String(headers['x-badge']))
      if (principal === undefined) throw new GatewayError('invalid_api_key')
      return { principal }
    },
})

const withdraw = defineStage({
  name: 'badge-withdraw',
  summary: 'Withdraw the badge of whoever asks.',
  config: noConfig,
  needs: ['principal'],
  provides: ['reply'],
  uses: ['badges'],
  build:
    (_config, _host, { badges: door }) =>
    ({ principal }) => {
      door.withdraw(principal.name)
      return { reply: { status: 200, headers: {}, body: { kind: 'json', value: { gone: principal.name } } } }
    },
})

const greet = defineStage({
  name: 'badge-greet',
  summary: 'Greet.',
  config: noConfig,
  needs: ['principal'],
  provides: ['reply'],
  build:
    () =>
    ({ principal }) => ({
      reply: { status: 200, headers: {}, body: { kind: 'json', value: { hello: principal.name } } },
    }),
})

export default definePlugin({
  name: 'badges',
  summary: 'Badges of guests.',
  records: [badge],
  services: [badges, ledger],
  stages: [enter, withdraw, greet],
  actions: [make, forge],
})
