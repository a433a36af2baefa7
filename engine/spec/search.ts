/** How a client wants the provider to search the web. What is absent is left to the provider. */
export interface SearchWish {
  /** Only these domains and what lies below them; an entry may go on with a path. */
  readonly allowedDomains?: readonly string[]
  readonly blockedDomains?: readonly string[]
  /** How much of what is found goes into the context: `low`, `medium`, `high`. */
  readonly contextSize?: string
  /** Most searches of one answer. */
  readonly maxUses?: number
  /** Roughly where the user is. */
  readonly location?: SearchLocation
  /** Names of the tool's fields that only its own protocol has. */
  readonly further?: readonly string[]
}

export interface SearchLocation {
  readonly city?: string
  /** Two letters (ISO 3166-1). */
  readonly country?: string
  readonly region?: string
  /** A name of the IANA database. */
  readonly timezone?: string
}

/** What an item tells of a search of the web: the call, what it found, or both. */
export interface Search {
  /** Ties what was found to its call. */
  readonly id: string
  /** Absent: the call is told by another item. */
  readonly queries?: readonly string[]
  /** Absent: it has not ended, or another item tells. */
  readonly found?: readonly SearchedPage[]
  /** Why it failed: a word. */
  readonly failed?: string
}

export interface SearchedPage {
  readonly url: string
  readonly title?: string
}
