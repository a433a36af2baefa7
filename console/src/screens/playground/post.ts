import { words } from './words.ts'

/** An answer that is no success, in the words of the gateway or of the provider; or why there is none. */
export class Refused extends Error {
  /** Its id, or its reference. */
  readonly requestId: string | null

  constructor(message: string, requestId: string | null) {
    super(message)
    this.requestId = requestId
  }
}

/** A request as it goes out, without its key. */
export interface Outgoing {
  readonly path: string
  /** JSON, or a form. */
  readonly body: Readonly<Record<string, unknown>> | FormData
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends a request with an API key, as any client does. Throws {@link Refused} for any status but 2xx, and for none. */
export async function post({ path, body, headers }: Outgoing, key: string, signal: AbortSignal): Promise<Response> {
  const isForm = body instanceof FormData
  const reference = newReference()
  const asked = fetch(path, {
    method: 'POST',
    headers: {
      ...headers,
      ...(isForm ? {} : { 'content-type': 'application/json' }),
      authorization: `Bearer ${key}`,
      'x-request-id': reference,
    },
    body: isForm ? body : JSON.stringify(body),
    signal,
    credentials: 'omit',
  })
  const response = await asked.catch(() => {
    if (!signal.aborted) throw new Refused(words.noAnswer, null)
    // The gateway tells its id with the answer. Until then, the log finds the request by its reference.
    throw new Refused(words.stopped, reference)
  })
  if (response.ok) return response
  throw new Refused(await wordsOf(response), requestIdOf(response))
}

/** `randomUUID` needs a secure address, which a gateway in a private network may not have. */
const newReference = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')

export const requestIdOf = (response: Response): string | null => response.headers.get('x-request-id')

/** Why there is no whole answer: what it was refused with, or that somebody stopped it, or that it broke off. */
export function reasonOf(error: unknown, signal: AbortSignal): string {
  if (error instanceof Refused) return error.message
  return signal.aborted ? words.stopped : words.brokeOff
}

async function wordsOf(response: Response): Promise<string> {
  const text = await response.text()
  try {
    const { error } = JSON.parse(text) as { error?: { message?: string } }
    if (error?.message) return `${response.status}: ${error.message}`
  } catch {
    // A proxy in between may answer with a page of its own.
  }
  return `${response.status}`
}
