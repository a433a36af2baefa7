import type { Json } from '../../../engine/index.ts'

/** Where in a body a text stands, such as `input[0].content[1].file_url`; undefined: nowhere. */
export function placeOf(text: string, value: Json | undefined, path = ''): string | undefined {
  if (typeof value !== 'object' || value === null) return value === text ? path : undefined
  for (const [key, child] of Object.entries(value)) {
    const step = Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`
    const found = placeOf(text, child, step)
    if (found !== undefined) return found
  }
  return undefined
}
