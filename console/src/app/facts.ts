import type { Cause } from '../api/attention.ts'

/** A fact of a cause as text; null: there is none. */
export function factOf(facts: Cause['facts'], name: string): string | null {
  const value: unknown = facts[name]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null
}
