import type { Json } from '../../../engine/index.ts'

/** Finds texts in a body: the paths of each, such as `input[0].content[1].file_url`, in the order of the body. */
export function placesOf(texts: ReadonlySet<string>, value: Json): Map<string, string[]> {
  const places = new Map<string, string[]>()
  eachText(value, (text, path) => {
    if (!texts.has(text)) return
    const known = places.get(text)
    if (known) known.push(path)
    else places.set(text, [path])
  })
  return places
}

/** The path of the last text in a body that `is` finds. */
export function lastPlace(value: Json, is: (text: string) => boolean): string | undefined {
  let found: string | undefined
  eachText(value, (text, path) => {
    if (is(text)) found = path
  })
  return found
}

function eachText(value: Json | undefined, tell: (text: string, path: string) => void, path = ''): void {
  if (typeof value === 'string') return tell(value, path)
  if (typeof value !== 'object' || value === null) return
  for (const [key, child] of Object.entries(value))
    eachText(child, tell, Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`)
}
