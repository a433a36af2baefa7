/** A client's options for the provider's web search. Absent options are left to the provider. */
export interface SearchWish {
  /** Only these domains and their subdomains; an entry may continue with a path. */
  readonly allowedDomains?: readonly string[]
  readonly blockedDomains?: readonly string[]
  /** How much of the results goes into the context: `low`, `medium`, `high`. */
  readonly contextSize?: string
  /** Maximum searches per answer. */
  readonly maxUses?: number
  /** The approximate location of the user. */
  readonly location?: SearchLocation
  /** Names of the tool's fields that only its own protocol has. */
  readonly further?: readonly string[]
}

export interface SearchLocation {
  readonly city?: string
  /** Country code of two letters (ISO 3166-1). */
  readonly country?: string
  readonly region?: string
  /** IANA time zone name. */
  readonly timezone?: string
}

/** A web search described by an item: the call, its results, or both. */
export interface Search {
  /** Links the results to the call. */
  readonly id: string
  /** Absent: another item describes the call. */
  readonly queries?: readonly string[]
  /** Absent: the search has not ended, or another item has the results. */
  readonly found?: readonly SearchedPage[]
  /** Why it failed, in one word. */
  readonly failed?: string
}

export interface SearchedPage {
  readonly url: string
  readonly title?: string
}
