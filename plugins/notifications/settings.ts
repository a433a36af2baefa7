import type { ConfigOf, SectionReport } from '../../engine/index.ts'
import { durationSchema } from '../../engine/kit.ts'
import { causeNames } from './cause.ts'
import { keyOf } from './standard-webhooks.ts'

export const settings = {
  type: 'object',
  additionalProperties: false,
  description: 'Who is told when something is wrong.',
  properties: {
    to: {
      type: 'array',
      maxItems: 16,
      default: [],
      title: 'Targets',
      description: 'Addresses that get a POST for each cause that begins, lasts and ends.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['name', 'url'],
        properties: {
          name: {
            type: 'string',
            pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$',
            patternErrorMessage: 'must be letters, digits, "_", "." and "-"',
            title: 'Name',
            description: 'Name of the target.',
          },
          url: {
            type: 'string',
            minLength: 1,
            maxLength: 2_048,
            title: 'Address',
            description: 'Address with https, or with http on this machine.',
          },
          secret: {
            type: 'string',
            minLength: 1,
            maxLength: 256,
            title: 'Secret',
            description:
              'Signs what is sent in the form standard: whsec_ and base64, or a text of 24 characters or more.',
          },
          form: {
            enum: ['standard', 'slack'],
            default: 'standard',
            title: 'Form',
            description:
              'standard: JSON, signed as Standard Webhooks says. slack: a message for Slack and those that read its form.',
          },
          causes: {
            type: 'array',
            minItems: 1,
            uniqueItems: true,
            default: ['all'],
            title: 'Causes',
            items: { enum: ['all', ...causeNames] },
            description: 'What it is told of.',
          },
        },
      },
    },
    budget_at: {
      type: 'array',
      maxItems: 8,
      uniqueItems: true,
      default: [0.8, 1],
      title: 'Shares of budgets',
      items: { type: 'number', minimum: 0.01, maximum: 1 },
      description: 'Shares of a budget of a key, a member or the gateway that are told when they are spent.',
    },
    repeat: {
      ...durationSchema,
      'x-minimum': '1s',
      default: '24h',
      title: 'Repeat',
      description: 'After this time, a cause that lasts is said again.',
    },
    hold: { ...durationSchema, default: '30s', title: 'Hold', description: 'A cause shorter than this is not said.' },
  },
} as const

export type NotificationSettings = ConfigOf<typeof settings>

export type Target = NotificationSettings['to'][number]

const loopback = /^(?:localhost|127\.0\.0\.1|\[::1\])$/

/** Whether an address leads to this machine. */
export function isLoopback({ hostname }: URL): boolean {
  return loopback.test(hostname)
}

export function checkSettings({ to }: NotificationSettings, report: SectionReport): void {
  for (const [at, { name, url, secret, form }] of to.entries()) {
    if (to.findIndex((other) => other.name === name) < at)
      report(['to', at, 'name'], `"${name}" is the name of another target`, 'name')
    const mistake = mistakeIn(URL.parse(url))
    if (mistake !== undefined) report(['to', at, 'url'], mistake, 'address')
    if (secret !== undefined && keyOf(secret) === undefined)
      report(['to', at, 'secret'], 'must be whsec_ with 24 to 64 bytes in base64, or 24 characters or more', 'secret')
    else if (secret === undefined && form === 'standard')
      report(['to', at], 'needs a "secret", with which receivers tell what is ours', 'secret')
  }
}

/** Why an address is not taken. The address itself is not told: it may hold a secret. */
function mistakeIn(url: URL | null): string | undefined {
  if (url?.protocol !== 'https:' && !(url?.protocol === 'http:' && isLoopback(url)))
    return 'must be an address with https, or with http on this machine'
  return url.username === '' && url.password === '' ? undefined : 'must be an address without user and password'
}
