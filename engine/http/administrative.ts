import type { Reply } from '../spec/slots.ts'

/**
 * Whether a path belongs to the interface of operators and members, and not to that of clients of models. Misspelled
 * paths belong to it, too, so that nobody keeps their errors.
 */
export function isAdministrative(path: string): boolean {
  return /^\/+api(?:\/|$)/.test(path)
}

/** Adds the headers of every answer of that interface, errors included: nobody keeps it, and browsers take it as it is called. */
export function administer(headers: Record<string, string>, { body }: Reply): void {
  headers['cache-control'] ??= 'no-store'
  headers['x-content-type-options'] ??= 'nosniff'
  if (body.kind === 'json') headers['content-type'] ??= 'application/json; charset=utf-8'
}
