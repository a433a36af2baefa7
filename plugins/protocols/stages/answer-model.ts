import { WholeFrames, spliceMember, through } from '../../../engine/index.ts'
import type { Passed, Reply } from '../../../engine/index.ts'

/** Where answers and events of all protocols name the model. */
const places = [['model'], ['message', 'model'], ['response', 'model']] as const
const key = '"model"'

/** An answer, or the start of one, that leaves the name of the model to its writer. */
export function nameless<T extends { readonly model?: string }>(told: T): Omit<T, 'model'> {
  const { model: _, ...others } = told
  return others
}

/** A relayed answer with `model` in place of the provider's word for it; every other byte stays as it is. */
export function named(body: Reply['body'], model: string): Reply['body'] {
  switch (body.kind) {
    case 'bytes':
      return body.type.includes('json')
        ? { ...body, bytes: Buffer.from(renamed(Buffer.from(body.bytes).toString(), model)) }
        : body
    case 'stream':
      return body.type.startsWith('text/event-stream')
        ? { ...body, source: through(body.source, renaming(model)) }
        : body
    default:
      return body
  }
}

function renamed(text: string, model: string): string {
  return text.includes(key) ? places.reduce((told, path) => spliceMember(told, path, model), text) : text
}

/** Renames in the data of each event; these protocols write it in one line. */
function renaming(model: string): Parameters<typeof through>[1] {
  const whole = new WholeFrames()
  const line = (text: string) => (text.startsWith('data:') ? renamed(text, model) : text)
  const pass = ({ bytes, part }: Passed): Uint8Array => {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    return part === 'whole' && text.includes(key)
      ? Buffer.from(text.toString().split('\n').map(line).join('\n'))
      : bytes
  }
  return {
    data: (chunk) => Buffer.concat(whole.push(chunk).map(pass)),
    end: () => whole.rest(),
  }
}
