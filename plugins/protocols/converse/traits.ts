import type { FromSchema } from 'json-schema-to-ts'
import type { JsonObject, PrintTarget } from '../../../engine/index.ts'
import { samplingTrait } from '../../../engine/kit.ts'

/** Traits of an upstream, with defaults that suit every model. */
export const converseTraits = {
  json_schema: {
    type: 'boolean',
    default: false,
    description: 'Takes `outputConfig.textFormat`; otherwise the schema is written into the system text.',
  },
  effort: {
    type: 'boolean',
    default: false,
    description: 'Takes `outputConfig.effort` and adaptive thinking instead of a thinking budget.',
  },
  thinking: {
    enum: [true, false, 'always'],
    default: true,
    description: 'Can think; `always`: thinking cannot be switched off.',
  },
  sampling: samplingTrait,
  cache_points: {
    enum: ['auto', true, false],
    default: 'auto',
    description: 'Takes cache points; `auto`: as its model does by its name.',
  },
  strict_tools: { type: 'boolean', default: false, description: 'Takes `strict` on tools.' },
  guardrail: {
    type: 'object',
    default: {},
    description: 'Sent as `guardrailConfig`, unless it is empty.',
  },
  model_fields: {
    type: 'object',
    default: {},
    description: 'Sent in `additionalModelRequestFields`; those that follow from the request take precedence.',
  },
} as const

type Table = typeof converseTraits

export type ConverseTraits = {
  readonly [Name in keyof Table]: Table[Name] extends { readonly type: 'object' } ? JsonObject : FromSchema<Table[Name]>
}

const table = Object.entries(converseTraits)

/** The defaults, overridden by the traits of the offer. Unknown traits are ignored. */
export function traitsOf({ offer: { traits = {} } }: Pick<PrintTarget, 'offer'>): ConverseTraits {
  return Object.fromEntries(
    table.map(([name, trait]) => [name, traits[name] ?? trait.default]),
  ) as unknown as ConverseTraits
}
