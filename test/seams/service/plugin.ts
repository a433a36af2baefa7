import { once } from 'node:events'
import { GatewayError, Refusal, defineCommand, definePlugin, defineService, defineStage, noConfig } from 'sluice'
import { columns, count } from 'sluice/kit'

/** What an API key may still spend, and who is inside. */
interface Purse {
  /** Takes a credit; undefined: there is none left. Every one that was taken is settled once: spent, or given back. */
  hold(key: string, note: string): Promise<{ settle(spent: boolean): Promise<void> } | undefined>
  /** Whether there was room for one more; then `leave` follows. */
  enter(): boolean
  leave(): void
  spent(least: number, key?: string): Promise<readonly { key_id: string; spent: number }[]>
}

declare module 'sluice' {
  interface Services {
    purse: Purse
  }
  interface Tables {
    purse: { key_id: string; spent: number; held: number }
    purse_entries: { id: string; key_id: string; credits: number }
  }
}

const purse = defineService({
  name: 'purse',
  summary: 'What each API key may still spend.',
  section: 'limits',
  settings: {
    type: 'object',
    additionalProperties: false,
    description: 'What each API key may spend.',
    properties: {
      credits: { type: 'integer', minimum: 0, default: 3, description: 'Credits of one API key, for ever.' },
      at_once: { type: 'integer', minimum: 1, default: 2, description: 'Exchanges that may be inside at once.' },
    },
  } as const,
  migrations: [
    {
      name: '0001-purse',
      async up({ schema }) {
        await schema
          .createTable('purse')
          .addColumn('key_id', 'text', (column) => column.primaryKey())
          .addColumn('spent', 'bigint', (column) => column.notNull().defaultTo(0))
          .addColumn('held', 'bigint', (column) => column.notNull().defaultTo(0))
          .execute()
      },
    },
    {
      name: '0002-entries',
      async up({ schema }) {
        await schema
          .createTable('purse_entries')
          .addColumn('id', 'text', (column) => column.primaryKey())
          .addColumn('key_id', 'text', (column) => column.notNull())
          .addColumn('credits', 'integer', (column) => column.notNull())
          .execute()
      },
    },
  ],
  open(host) {
    const shared = { inside: 0, room: 0 }
    const entries = host.appender('purse_entries', { waits: true })
    const add = (key_id: string, held: number, spent: number, limit = Infinity) =>
      host.database
        .updateTable('purse')
        .set((row) => ({ held: row('held', '+', held), spent: row('spent', '+', spent) }))
        .where('key_id', '=', key_id)
        .$if(limit < Infinity, (rows) => rows.where((row) => row(row('held', '+', row.ref('spent')), '<', limit)))
        .executeTakeFirstOrThrow()
    return {
      configure({ credits, at_once: atOnce }) {
        if (atOnce > credits) throw new Refusal('there are fewer credits than that', ['at_once'])
        return {
          view: {
            async hold(key_id, note) {
              const row = { key_id, spent: 0, held: 0 }
              await host.database
                .insertInto('purse')
                .values(row)
                .onConflict((conflict) => conflict.doNothing())
                .execute()
              const { numUpdatedRows } = await add(key_id, 1, 0, credits)
              if (numUpdatedRows === 0n) return undefined
              return {
                async settle(spent) {
                  await add(key_id, -1, spent ? 1 : 0)
                  entries.append({ id: note, key_id, credits: spent ? 1 : 0 })
                },
              }
            },
            enter: () => shared.inside < shared.room && ++shared.inside > 0,
            leave: () => void shared.inside--,
            spent: (least, key) =>
              host.database
                .selectFrom('purse')
                .select(['key_id', 'spent'])
                .where('spent', '>=', least)
                .$if(key !== undefined, (rows) => rows.where('key_id', '=', key as string))
                .execute(),
          },
          live: () => void (shared.room = atOnce),
          close: () => host.log.info(`purse of ${credits} closed`),
        }
      },
      status: () => (shared.room > 100 ? 'there is room for very many' : entries.counters.failing),
      close: () => host.log.info('purse closed'),
    }
  },
})

const hold = defineStage({
  name: 'purse-hold',
  summary: 'Take a credit of the API key; it is spent when the answer is complete.',
  config: noConfig,
  needs: ['principal'],
  reads: ['model'],
  provides: [],
  settles: [],
  uses: ['purse'],
  build:
    (_config, _host, services) =>
    async ({ principal, model }, scope, settle) => {
      const held = await services.purse.hold(principal.id, `${scope.id} ${model?.model.name ?? 'all'}`)
      if (!held) throw new GatewayError('refused', {}, { status: 429, message: 'Nothing is left.' })
      settle((_slots, { error }) => held.settle(error === undefined))
      return {}
    },
})

const enter = defineStage({
  name: 'purse-enter',
  summary: 'Take one of the places.',
  config: noConfig,
  needs: [],
  provides: [],
  settles: [],
  uses: ['purse'],
  build:
    (_config, _host, { purse: view }) =>
    (_slots, _scope, settle) => {
      if (!view.enter()) throw new GatewayError('refused', {}, { status: 429, message: 'Too many at once.' })
      settle(() => view.leave())
      return {}
    },
})

const gate = defineStage({
  name: 'purse-gate',
  summary: 'Wait until somebody says so.',
  config: noConfig,
  needs: ['outcome'],
  provides: [],
  build: () => async () => {
    await once(process, 'purse-gate')
    return {}
  },
})

const show = defineCommand({
  name: 'purse show',
  summary: 'Show what API keys have spent.',
  options: {
    type: 'object',
    additionalProperties: false,
    properties: {
      key: { type: 'string', minLength: 3, description: 'Id of an API key; absent: all.' },
      at_least: { type: 'integer', minimum: 0, default: 1, description: 'Only those that have spent so much.' },
    },
  } as const,
  arguments: ['key'],
  uses: ['purse'],
  async run({ key, at_least: least }, services, { json, out, error }) {
    if (key === 'nobody') throw new Refusal('nobody has no purse')
    const rows = await services.purse.spent(least, key)
    if (rows.length === 0) error('Nothing was spent.')
    for (const row of rows) out(json ? JSON.stringify(row) : `${row.key_id}: ${row.spent}`)
    return rows.length === 0 ? 1 : 0
  },
})

const list = defineCommand({
  name: 'purse list',
  summary: 'List the API keys that have spent something.',
  group: 'Look into purses.',
  options: {
    type: 'object',
    additionalProperties: false,
    required: ['least'],
    properties: {
      least: { type: 'integer', minimum: 1, description: 'Only those that have spent so much.' },
      sum: { type: 'boolean', default: false, description: 'How many there are.' },
    },
  } as const,
  words: { least: { short: 'l', value: 'credits' }, sum: { short: 's' } },
  uses: ['purse'],
  async run({ least, sum }, services, { out, style }) {
    const rows = await services.purse.spent(least)
    const shown = [['key', 'spent'], ...rows.map((row) => [row.key_id, String(row.spent)])]
    out(sum ? style('bold', count(rows.length, 'key')) : columns(shown))
    return 0
  },
})

export default definePlugin({
  name: 'purse',
  summary: 'Credits of API keys.',
  services: [purse],
  stages: [hold, enter, gate],
  commands: [show, list],
})
