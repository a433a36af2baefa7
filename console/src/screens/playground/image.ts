/** The first characters that the base64 of each kind of picture has. */
const kinds: Readonly<Record<string, string>> = {
  iVBORw0KGgo: 'png',
  '/9j/': 'jpeg',
  UklGR: 'webp',
  R0lGOD: 'gif',
}

/** The base64 of a picture as an address of data; undefined: it is none that browsers show. */
export function imageOf(base64: string): string | undefined {
  const kind = Object.entries(kinds).find(([start]) => base64.startsWith(start))
  return kind && `data:image/${kind[1]};base64,${base64}`
}
