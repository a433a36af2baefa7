import type { Json } from '../../../engine/index.ts'

/** Finds texts in a body: the paths of each, such as `input[0].content[1].file_url`, in the order of the body. */
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
