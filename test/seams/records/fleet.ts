import { definePlugin, defineRecord, defineStage, noConfig } from 'sluice'
import type { ConfigOf } from 'sluice'
import { asText, jsonReply, requesterOf } from 'sluice/kit'

const harbourSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  properties: {
    name: { type: 'string', minLength: 1, description: 'What it is called.' },
    open: { type: 'boolean', default: true, description: 'Whether ships may enter.' },
  },
} as const

const boatSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  properties: {
    name: { type: 'string', minLength: 1, description: 'What it is called.' },
    harbour: { type: 'string', 'x-names': 'port', description: 'Where it lies.' },
    visits: { type: 'array', items: { type: 'string', 'x-names': 'port' }, default: [], description: 'Where it was.' },
    sails: { type: 'integer', minimum: 0, default: 0, description: 'How many sails it has.' },
  },
} as const

declare module 'sluice' {
  interface Records {
    port: ConfigOf<typeof harbourSchema>
    barge: ConfigOf<typeof boatSchema>
  }
}

const harbour = defineRecord({
  name: 'port',
  summary: 'Ports.',
  place: 'ports',
  schema: harbourSchema,
  switch: 'open',
  show: (shown, { name, off }, all) => ({
    ...shown,
    problem: 'none that anybody has to know',
    state: off ?? 'open',
    boats: all.of('barge').filter((boat) => boat.harbour === name).length,
  }),
  lists: {
    filters: { state: { accepts: ['open', 'it is disabled'] }, boats: { accepts: 'text' } },
    sorts: ['name', 'boats'],
  },
})

const boat = defineRecord({
  name: 'barge',
  summary: 'Barges.',
  place: 'barges',
  schema: boatSchema,
  show: (shown, { notes }, all) => ({
    ...shown,
    moved: Number(notes?.['moved'] ?? 0),
    welcome: all.off('port', asText(shown['harbour'])) === undefined,
  }),
  lists: {
    filters: { at: { accepts: 'text', values: ({ harbour: at, visits }) => [at, ...(visits as string[])] } },
    sorts: ['name'],
    searched: ({ name, harbour: at }) => [name, at],
  },
  note: ({ harbour: now }, before) => ({
    moved: Number(before?.notes['moved'] ?? 0) + (before && now !== before.value['harbour'] ? 1 : 0),
  }),
})

/** Closes a port for good: its barges go to another one, all at once. */
const close = defineStage({
  name: 'port-close',
  summary: 'Close a port.',
  config: noConfig,
  needs: ['ingress'],
  reads: ['principal'],
  provides: ['reply'],
  build:
    (_, { records }) =>
    async (slots, scope) => {
      const { params, query } = slots.ingress
      const name = params['name'] ?? ''
      const done = await records.changeAll(
        (known) => [
          ...known.uses('port', name).map(({ by, path }) => ({
            kind: 'change' as const,
            type: by.type,
            name: by.name,
            patch: path[0] === 'harbour' ? { harbour: query.get('to') } : { visits: null },
            ...(query.has('notes') ? { notes: { moved: 100 } } : {}),
          })),
          { kind: 'delete', type: 'port', name },
        ],
        requesterOf(scope, slots),
        async (transaction) => {
          await transaction
            .insertInto('diary')
            .values({ line: `closed ${name}` })
            .execute()
          if (query.has('fail')) throw new Error('the ink is dry')
        },
      )
      return { reply: jsonReply(done.map((one) => one?.shown ?? null)) }
    },
})

export default definePlugin({ name: 'fleet', summary: 'Ports and barges.', records: [harbour, boat], stages: [close] })
