type Schema = Readonly<Record<string, unknown>>
type Properties = Readonly<Record<string, Schema>>

/** Makes JSON Schemas of answers, in which every field has a description. */
export const shape = {
  text: (description: string) => ({ type: 'string', description }) as const,
  time: (description: string) => ({ type: 'string', format: 'date-time', description }) as const,
  number: (description: string) => ({ type: 'number', description }) as const,
  integer: (description: string) => ({ type: 'integer', description }) as const,
  flag: (description: string) => ({ type: 'boolean', description }) as const,
  word: (words: readonly string[], description: string) => ({ enum: words, description }) as const,
  list: (items: Schema, description: string) => ({ type: 'array', items, description }) as const,
  /** An object whose keys are names of some kind. */
  map: (values: Schema, description: string) =>
    ({ type: 'object', additionalProperties: values, description }) as const,
  /** Any JSON. */
  json: (description: string) => ({ description }) as const,
  /** An object with all of some fields, and perhaps with others. */
  object: (always: Properties, sometimes: Properties = {}, description?: string) => ({
    type: 'object' as const,
    additionalProperties: false,
    required: Object.keys(always),
    properties: { ...always, ...sometimes },
    ...(description === undefined ? {} : { description }),
  }),
  orNull(schema: Schema): Schema {
    const { type, enum: words, description } = schema
    if (Array.isArray(words)) return { ...schema, enum: [...(words as unknown[]), null] }
    if (typeof type === 'string' && type !== 'object') return { ...schema, type: [type, 'null'] }
    if (Array.isArray(type) && type.includes('null')) return schema
    return { anyOf: [schema, { type: 'null' }], ...(description === undefined ? {} : { description }) }
  },
  /** The answer of a list that has one page. */
  all: (items: Schema) => shape.object({ data: shape.list(items, 'The entries.') }),
} as const

/** JSON Schema of a page of a list. */
export function pageOf(items: Schema) {
  return shape.object({
    data: shape.list(items, 'The entries of the page.'),
    next_cursor: shape.orNull(shape.text('The cursor of the next page; null at the end.')),
  })
}
