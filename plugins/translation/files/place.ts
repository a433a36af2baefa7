import type { Json } from '../../../engine/index.ts'

/** Where in a body texts stand, such as `input[0].content[1].file_url`: the places of each, in the body's order. */
export function placesOf(texts: ReadonlySet<string>, value: Json): Map<string, string[]> {
  const places = new Map<string, string[]>()
  const look = (one: Json | undefined, path: string): void => {
    if (typeof one === 'string' && texts.has(one)) {
      const known = places.get(one)
      if (known) known.push(path)
      else places.set(one, [path])
    }
    if (typeof one !== 'object' || one === null) return
    for (const [key, child] of Object.entries(one))
      look(child, Array.isArray(one) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`)
  }
  look(value, '')
  return places
}
