/** The authenticated client: a program with an API key, or a signed-in member. */
export interface Principal {
  readonly kind: 'key' | 'member'
  /** The id of its record. */
  readonly id: string
  readonly name: string
  /** Its role, such as `admin`; API keys have none. */
  readonly role?: string
  /** Models it may use, itself and as the property of its owner; undefined: all. */
  readonly models?: ReadonlySet<string>
  /** Id of the member who owns an API key. */
  readonly owner?: string
  /** Labels of an API key, which rows of the request log repeat. */
  readonly tags?: Readonly<Record<string, string>>
  /** Names of guards that judge the requests of an API key beside the usual ones, and of usual ones that do not. */
  readonly guards?: { readonly on: readonly string[]; readonly off: readonly string[] }
  /** Whether an API key may read metrics. */
  readonly metrics?: boolean
}

/** Who asks for a change, for those who record it. */
export interface Requester {
  /** Undefined: a command, or the gateway itself. */
  readonly principal?: Principal
  /** Id of the exchange, which is the id of the request. */
  readonly id?: string
  /** IP address of the peer. */
  readonly address?: string
}
