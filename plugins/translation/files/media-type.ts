/** Leading bytes of files, and their media types. */
const beginnings: readonly (readonly [RegExp, string])[] = [
  [/^%PDF-/, 'application/pdf'],
  [/^\x89PNG\r\n/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^GIF8[79]a/, 'image/gif'],
  [/^RIFF.{4}WEBP/s, 'image/webp'],
  [/^RIFF.{4}WAVE/s, 'audio/wav'],
  [/^(ID3|\xff[\xf2\xf3\xfb])/, 'audio/mpeg'],
  [/^OggS/, 'audio/ogg'],
  [/^fLaC/, 'audio/flac'],
]

const extensions: ReadonlyMap<string, string> = new Map([
  ['csv', 'text/csv'],
  ['docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['html', 'text/html'],
  ['json', 'application/json'],
  ['md', 'text/markdown'],
  ['pdf', 'application/pdf'],
  ['pptx', 'application/vnd.openxmlformats-officedocument.presentationml.presentation'],
  ['txt', 'text/plain'],
  ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
])

const anything = 'application/octet-stream'
const unsaid: ReadonlySet<string> = new Set(['', anything, 'binary/octet-stream', 'application/x-download'])

/** The media type of a file: by its server, otherwise by its leading bytes, otherwise by its extension. */
export function mediaTypeOf(contentType: string, bytes: Buffer, name: string): string {
  const said = (contentType.split(';', 1)[0] ?? '').trim().toLowerCase()
  if (!unsaid.has(said)) return said
  const head = bytes.toString('latin1', 0, 16)
  const found = beginnings.find(([beginning]) => beginning.test(head))
  return found?.[1] ?? extensions.get(/\.(\w{1,16})$/.exec(name)?.[1]?.toLowerCase() ?? '') ?? anything
}

const formats: ReadonlyMap<string, string> = new Map([
  ['mpeg', 'mp3'],
  ['x-wav', 'wav'],
  ['wave', 'wav'],
  ['vnd.wave', 'wav'],
])

/** The name of an audio format, such as `wav` or `mp3`. */
export function audioFormatOf(mediaType: string): string {
  const subtype = mediaType.slice(mediaType.indexOf('/') + 1)
  return formats.get(subtype) ?? subtype
}
