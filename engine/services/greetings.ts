import type { Logger } from 'pino'
import { within } from './within.ts'
import type { AnyService, Greeting, Said } from '../spec/service.ts'

/** Timeout in milliseconds for each part of a greeting. The operator does not learn the address before `now` is there. */
const greetDeadline = 5_000

/** Output at the start of a gateway, as text and as a line of JSON. */
export interface Line {
  readonly text: string
  /** Absent: nothing is printed with JSON output. */
  readonly json?: string
}

/** A greeting that cannot fail: a part that fails or takes too long is logged and left out. */
export interface SafeGreeting {
  readonly now: Line | undefined
  served(gateway: Parameters<NonNullable<Greeting['served']>>[0]): Promise<Line | undefined>
}

/** The greeting of a service. Never rejects. */
export async function greetingOf(service: AnyService, view: unknown, log: Logger): Promise<SafeGreeting | undefined> {
  const late = `it had not said it after ${greetDeadline / 1_000} seconds`
  const attempt = async <T>(part: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await within(Promise.resolve(part()), greetDeadline, late)
    } catch (error) {
      log.error({ err: error, service: service.name }, 'a service cannot say what it says at the start')
      return undefined
    }
  }
  const greeting = await attempt(() => service.greet?.(view))
  if (greeting === undefined) return undefined
  return {
    now: await attempt(() => lineOf(greeting.now)),
    served: (gateway) => attempt(async () => lineOf(await greeting.served?.(gateway))),
  }
}

/** Throws for what cannot be printed: a plugin may be written in JavaScript. */
function lineOf(said: Said | undefined): Line | undefined {
  if (said === undefined) return undefined
  if (typeof said.text !== 'string') throw new Error('what it says has no text')
  return { text: said.text, ...(said.json && { json: JSON.stringify(said.json) }) }
}
