/** Leading bytes, as Latin-1 text with `.` for any byte, and their media type. */
const signatures: readonly (readonly [RegExp, string])[] = [
  [/^\x89PNG\r\n/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^GIF8[79]a/, 'image/gif'],
  [/^RIFF.{4}WEBP/s, 'image/webp'],
  [/^.{4}ftypavi[fs]/s, 'image/avif'],
  [/^.{4}ftyp(?:hei[cmsx]|mif1)/s, 'image/heic'],
  [/^(?:II\*\0|MM\0\*)/, 'image/tiff'],
  [/^BM/, 'image/bmp'],
]

/** The media type of an image in base64, by its leading bytes; undefined for an unknown format. */
export function imageType(data: string): string | undefined {
  const head = Buffer.from(data.slice(0, 24), 'base64').toString('latin1')
  return signatures.find(([signature]) => signature.test(head))?.[1]
}
