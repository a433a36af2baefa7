import type { Principal } from './slots.ts'

/** API keys of the running configuration. What is stored of a key is its SHA-256, never its text. */
export interface Keys {
  /** The principal of a key's text; undefined when it is unknown or expired. */
  find(text: string): Principal | undefined
  /**
   * The same, of a key that may have been made elsewhere a moment ago: the database is asked, at most once a second
   * for all who wait. Never rejects.
   */
  search(text: string): Promise<Principal | undefined>
}
