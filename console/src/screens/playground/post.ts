import { words } from './words.ts'

/** An answer that is no success, in the words of the gateway or of the provider. */
export class Refused extends Error {
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

/** Sends a request with an API key, as any client does. Throws {@link Refused} for any status but 2xx. */
export async function post({ path, body, headers }: Outgoing, key: string, signal: AbortSignal): Promise<Response> {
  const isForm = body instanceof FormData
  const response = await fetch(path, {
    method: 'POST',
    headers: {
      ...headers,
      ...(isForm ? {} : { 'content-type': 'application/json' }),
      authorization: `Bearer ${key}`,
    },
    body: isForm ? body : JSON.stringify(body),
    signal,
    credentials: 'omit',
  })
  if (response.ok) return response
  throw new Refused(await wordsOf(response), requestIdOf(response))
}

export const requestIdOf = (response: Response): string | null => response.headers.get('x-request-id')

/** Why there is no answer: the gateway's words, or that somebody stopped it, or that it does not answer. */
export function reasonOf(error: unknown, signal: AbortSignal): string {
  if (error instanceof Refused) return error.message
  return signal.aborted ? words.stopped : words.noAnswer
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
