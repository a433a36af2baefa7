import { definePlugin, defineSlot, defineStage, noConfig } from 'sluice'
import type { Json, Reply } from 'sluice'

declare module 'sluice' {
  interface Slots {
    'acme.member': { readonly name: string }
  }
}

const json = (status: number, value: Json): { reply: Reply } => ({
  reply: { status, headers: {}, body: { kind: 'json', value } },
})

const member = defineSlot({ name: 'acme.member', summary: 'Somebody who was made.', fields: { name: 'text' } })

/** Makes a member out of a body that holds a password. */
const create = defineStage({
  name: 'acme-create',
  summary: 'Make a member.',
  config: noConfig,
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['name', 'password'],
    properties: {
      name: { type: 'string', minLength: 1, maxLength: 64, description: 'What it is called.' },
      password: { type: 'string', minLength: 12, description: 'What it says to come in.', writeOnly: true },
      role: { enum: ['viewer', 'admin'], default: 'viewer', description: 'What it may do.' },
      budget: {
        type: 'object',
        additionalProperties: false,
        default: {},
        properties: {
          usd: { type: 'number', minimum: 0, default: 5, 'x-unit': 'usd', description: 'What it may spend.' },
          period: { type: ['string', 'null'], description: 'In what time.' },
        },
      },
      fallbacks: {
        type: 'array',
        maxItems: 3,
        items: { type: 'string', minLength: 1 },
        description: 'Who comes next.',
      },
      expires: { anyOf: [{ type: 'integer' }, { type: 'null' }], description: 'Until when.' },
    },
  } as const,
  needs: ['ingress'],
  provides: ['acme.member', 'reply'],
  build: () => {
    return ({ input }) => {
      // The types know what the schema says, defaults included.
      const { name, role, budget, fallbacks = [] } = input
      const usd: number = budget.usd
      return {
        'acme.member': { name },
        ...json(201, { name, role, usd, fallbacks, long: input.password.length >= 12 }),
      }
    }
  },
})

/** Takes what its configuration says. */
const note = defineStage({
  name: 'acme-note',
  summary: 'Take a note.',
  config: {
    type: 'object',
    additionalProperties: false,
    properties: { field: { type: 'string', default: 'text', description: 'How its text is called.' } },
  } as const,
  body: ({ field }) => ({
    type: 'object',
    additionalProperties: false,
    required: [field],
    properties: { [field]: { type: 'string' } },
  }),
  needs: ['ingress'],
  provides: ['reply'],
  build: ({ field }) => {
    return ({ input }) => json(200, { noted: input[field] ?? null })
  },
})

/** Shows what stages find beside it. */
const spy = defineStage({
  name: 'acme-spy',
  summary: 'Look for what is not its own.',
  config: noConfig,
  needs: [],
  reads: ['ingress'],
  provides: [],
  build: () => (slots, scope) => {
    scope.note('seen', Object.keys(slots).sort())
    return {}
  },
})

export default definePlugin({
  name: 'acme-members',
  summary: 'Members, as an outsider would make them.',
  slots: [member],
  stages: [create, note, spy],
})
