import { fileProperties } from '../records/file-properties.ts'
import type { Registry } from '../config/registry.ts'

/** The parts of a schema that the example prints. */
interface Field {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly properties?: Readonly<Record<string, Field>>
  readonly items?: Field
  readonly required?: readonly string[]
}

/**
 * The text of a configuration file with every setting, its default and its description. Settings without a default are
 * commented out, and so is one provider of each type: loading the file changes nothing.
 */
export function exampleSettings(registry: Registry): string {
  const typed = [...registry.records.values()].filter((type) => type.typed !== undefined)
  const isTyped = (name: string) => typed.some(({ place }) => place === name)
  const properties = Object.entries(fileProperties(registry) as Readonly<Record<string, Field>>)
  const types = [...registry.providers].sort(([left], [right]) => left.localeCompare(right))
  const shown = types.flatMap(([type, { summary, config }]) => [
    '  #',
    ...comment(summary, '  # '),
    `  # - name: my-${type.replaceAll('_', '-')}`,
    `  #   type: ${type}`,
    ...Object.entries((config as Field).properties ?? {}).flatMap(([name, field]) => aside(name, field, '  #   ')),
  ])
  return [
    '# Every setting with its default.',
    ...properties.flatMap(([name, field]) => (isTyped(name) ? [] : ['', ...setting(name, field, '')])),
    ...typed.flatMap(({ summary, place }) => ['', ...comment(summary, '# '), `${place}: []`, ...shown]),
    '',
  ].join('\n')
}

function setting(name: string, field: Field, indent: string): string[] {
  const head = comment(field.description ?? '', `${indent}# `)
  if (field.default === undefined) return aside(name, field, `${indent}# `)
  if (field.properties && field.default === null)
    return [
      ...head,
      `${indent}${name}: null`,
      ...Object.entries(field.properties).flatMap(([inner, entry]) => aside(inner, entry, `${indent}#   `)),
    ]
  if (field.properties)
    return [
      ...head,
      `${indent}${name}:`,
      ...Object.entries(field.properties).flatMap(([inner, entry]) => setting(inner, entry, `${indent}  `)),
    ]
  const entry = Object.entries(field.items?.properties ?? {}).flatMap(([inner, item], index) =>
    aside(inner, item, `${indent}  # ${index === 0 ? '- ' : '  '}`),
  )
  return [...head, `${indent}${name}: ${JSON.stringify(field.default)}`, ...entry]
}

/** A commented-out field. Its description follows on the same line if it fits, otherwise it stands above. */
function aside(name: string, field: Field, prefix: string): string[] {
  const deeper = prefix.replace('- ', '  ')
  const value = field.properties
    ? ''
    : ` ${field.default === undefined ? placeholder(field) : JSON.stringify(field.default)}`
  const inner = Object.entries(field.properties ?? {}).flatMap(([inside, entry]) => aside(inside, entry, `${deeper}  `))
  return [`${prefix}${name}:${value}${field.description ? ` # ${field.description}` : ''}`, ...inner]
}

function placeholder({ type, enum: values, minimum = 0 }: Field): string {
  if (values) return JSON.stringify(values[0])
  switch (type) {
    case 'integer':
    case 'number':
      return String(minimum)
    case 'boolean':
      return 'false'
    case 'array':
      return '[]'
    case 'object':
      return '{}'
    default:
      return '"…"'
  }
}

function comment(text: string, prefix: string): string[] {
  return text === '' ? [] : [`${prefix}${text}`]
}
