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

/** How the vendor begins every event of the server. */
const usual = /^\{\s{0,8}"type"\s{0,8}:\s{0,8}"([a-z_.]{1,128})"/
/** Bytes that hold this beginning. */
const beginning = 192

/** The type of an event of the server; undefined for a message that has none. */
export function typeOf(bytes: Buffer): string | undefined {
  const found = usual.exec(bytes.toString('latin1', 0, beginning))?.[1]
  if (found !== undefined) return found
  try {
    return headOf(bytes).type
  } catch {
    // Whatever it is, the client gets it as it is.
    return undefined
  }
}
