import { FieldNames, cutMembers } from '../../engine/kit.ts'

/** What says of an event which one it is. */
export interface EventHead {
  readonly type: string
  readonly eventId: string | null
}

const fields = new FieldNames(['type', 'event_id'])

/**
 * The head of an event, read without parsing the rest. Throws `invalid_request` for a message that is no JSON object,
 * and other errors for one that two parsers could understand differently, such as a repeated type.
 */
export function headOf(bytes: Buffer): EventHead {
  const { type, event_id: eventId } = cutMembers(bytes, fields).members
  return { type: typeof type === 'string' ? type : '', eventId: typeof eventId === 'string' ? eventId : null }
}

/** Tells of a message, without parsing it, that it is no event of some types. Takes about 1 ms for 15 MB of audio. */
export class EventTypes {
  readonly #signs: readonly Buffer[]

  constructor(types: Iterable<string>) {
    // Audio and pictures hold no points. An escape may stand for any letter.
    const ends = [...types].map((type) => `${type.slice(Math.max(0, type.lastIndexOf('.')))}"`)
    this.#signs = [...new Set([...ends, String.raw`\u`])].map((sign) => Buffer.from(sign))
  }

  /** Whether the message may be one of them. */
  mayHave(bytes: Buffer): boolean {
    return this.#signs.some((sign) => bytes.includes(sign))
  }
}

/** How the vendor begins every event of the server. */
const usual = /^\{\s{0,8}"type"\s{0,8}:\s{0,8}"([a-z_.]{1,128})"/
/** Bytes that hold this beginning. */
const beginning = 192

/** Bytes of a message that is read whole without a look at what it may be. */
const short = 4_096

/**
 * The type of an event of the server; undefined for a message that has none.
 * @param wanted a long message that is none of these events may be undefined, too
 */
export function typeOf(bytes: Buffer, wanted?: EventTypes): string | undefined {
  const found = usual.exec(bytes.toString('latin1', 0, beginning))?.[1]
  if (found !== undefined) return found
  if (bytes.length > short && wanted?.mayHave(bytes) === false) return undefined
  try {
    return headOf(bytes).type
  } catch {
    // Whatever it is, the client gets it as it is.
    return undefined
  }
}
