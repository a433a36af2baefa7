import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { FrameDecoder, unpackSeal } from '../../engine/kit.ts'
import type { Json } from '../../engine/index.ts'

const updating = process.env['UPDATE_GOLDEN'] === '1'

/** A frame whose data is read, where it is JSON. */
export interface ReadFrame {
  readonly event?: string
  readonly data: Json
}

export function text(path: string): string {
  return readFileSync(join(import.meta.dirname, path), 'utf8')
}

export function json(path: string): Json {
  return JSON.parse(text(path)) as Json
}

/** Compares `value` with the file at `path`; with `UPDATE_GOLDEN=1` the file takes the value instead. */
export function matches(path: string, value: Json): void {
  if (updating) writeFileSync(join(import.meta.dirname, path), `${JSON.stringify(value, null, 2)}\n`)
  expect(value).to.deep.equal(json(path))
}

/** As `matches`, for the text of a stream: its frames are compared one by one. */
export function matchesFrames(path: string, stream: string): void {
  if (updating) writeFileSync(join(import.meta.dirname, path), stream)
  expect(framesOf(stream)).to.deep.equal(framesOf(text(path)))
}

export function framesOf(stream: string): ReadFrame[] {
  const decoder = new FrameDecoder()
  const frames = [...decoder.push(Buffer.from(stream)), ...decoder.end()]
  return frames.map((frame) => ({
    ...frame,
    data: frame.data === '[DONE]' ? frame.data : (JSON.parse(frame.data) as Json),
  }))
}

/**
 * An answer without what differs in every run: the exchange's id, with and without dashes, becomes zeros, and a time
 * of just now becomes 0. Seals stand unpacked, `gw1.<their JSON>`, so that they can be read and compared.
 */
export function normalised(answer: string, exchangeId: string): string {
  const zeros = '00000000-0000-7000-8000-000000000000'
  return decoded(answer)
    .replaceAll(exchangeId, zeros)
    .replaceAll(exchangeId.replaceAll('-', ''), zeros.replaceAll('-', ''))
    .replace(/"(created|created_at|completed_at)":(\d+)/g, (field, name, seconds) =>
      Math.abs(Date.now() / 1000 - Number(seconds)) < 600 ? `"${name}":0` : field,
    )
    .replace(/gw1\.[\w-]+/g, (packed) => `gw1.${JSON.stringify(JSON.stringify(unpackSeal(packed))).slice(1, -1)}`)
}

/** A body with its seals as text, also where the protocol has them in base64. */
export function decoded(body: string): string {
  return body.replace(/Z3cxL[\w+/]+=*/g, (encoded) => Buffer.from(encoded, 'base64').toString())
}
