/** An error of a JSON Schema, as ajv reports it. */
export interface SchemaError {
  readonly keyword: string
  readonly params: Readonly<Record<string, unknown>>
  readonly message?: string
}

/**
 * The violated requirement, to follow the name of the value: `must be a string or null`, `must have at most 255
 * items`.
 */
export function requirement({ keyword, params, message = 'is not valid' }: SchemaError): string {
  const { limit } = params
  switch (keyword) {
    case 'type':
      return `must be ${[params['type']].flat().map(typeName).join(' or ')}`
    case 'enum':
      return `must be one of ${(params['allowedValues'] as unknown[]).map((value) => JSON.stringify(value)).join(', ')}`
    case 'const':
      return `must be ${JSON.stringify(params['allowedValue'])}`
    case 'pattern':
      return 'does not have the required form'
    case 'minimum':
    case 'x-minimum':
      return `must be at least ${String(limit)}`
    case 'maximum':
    case 'x-maximum':
      return `must be at most ${String(limit)}`
    case 'exclusiveMinimum':
      return `must be more than ${String(limit)}`
    case 'x-decimals':
      return `must have at most ${String(limit)} decimals`
    case 'uniqueItems':
      return 'must not have the same item twice'
  }
  const counted = counts.get(keyword)
  if (counted === undefined) return message
  if (counted.bound === 'at least' && limit === 1) return 'must not be empty'
  return `must have ${counted.bound} ${String(limit)} ${counted.of}`
}

const counts: ReadonlyMap<string, { readonly bound: 'at least' | 'at most'; readonly of: string }> = new Map([
  ['minLength', { bound: 'at least', of: 'characters' }],
  ['maxLength', { bound: 'at most', of: 'characters' }],
  ['minItems', { bound: 'at least', of: 'items' }],
  ['maxItems', { bound: 'at most', of: 'items' }],
  ['minProperties', { bound: 'at least', of: 'members' }],
  ['maxProperties', { bound: 'at most', of: 'members' }],
])

function typeName(type: unknown): string {
  if (type === 'null') return 'null'
  return `${type === 'array' || type === 'object' || type === 'integer' ? 'an' : 'a'} ${String(type)}`
}
