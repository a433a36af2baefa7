/** How many retries a provider may get. */
export interface RetryShare {
  /** Retries that are always allowed. */
  readonly floor: number
  /** Retries per active request. */
  readonly share: number
}

/** The requests of this process that wait for one provider. */
interface Load {
  active: number
  /** Requests that have begun, and their retries, since the provider was idle. */
  begun: number
  retries: number
}

/** One request at one provider. */
interface Stay {
  readonly provider: string
  readonly load: Load
  /** The load before the request began. */
  readonly active: number
  readonly begun: number
  readonly retries: number
  /** Its own calls of the provider. */
  calls: number
}

/**
 * Limits how often the requests of a process call a provider again, so that a provider that fails gets only little more
 * traffic than usual. Held over the life of a request: the retries of all requests may be at most a share of the
 * requests that were active beside it. A request that is the only one to retry is not limited.
 */
export class RetryBudget {
  readonly #loads = new Map<string, Load>()

  /** A request that is about to call providers. */
  request(): RequestRetries {
    return new RequestRetries(this.#loads)
  }
}

/** Providers that stay known with no requests: a table that grows and shrinks with each request is made anew each time. */
const kept = 64

/** The calls of one request. */
export class RequestRetries {
  readonly #loads: Map<string, Load>
  /** Nearly always there is only one; V8 gives a list that grows from nothing room for 17 elements. */
  #stays: Stay[] | undefined

  constructor(loads: Map<string, Load>) {
    this.#loads = loads
  }

  /** Counts a call of a provider; every call after the first one is a retry. */
  call(provider: string): void {
    const stay = this.#find(provider) ?? this.#enter(provider)
    if (++stay.calls > 1) stay.load.retries++
  }

  /** The last call of a provider was not made. */
  undo(provider: string): void {
    const stay = this.#find(provider)
    if (stay && stay.calls-- > 1) stay.load.retries--
  }

  /** Whether a provider may be called; always true for the first call. */
  allows(provider: string, { floor, share }: RetryShare): boolean {
    const stay = this.#find(provider)
    if (stay === undefined || stay.calls === 0) return true
    const { load } = stay
    const beside = stay.active + load.begun - stay.begun
    const most = Math.max(floor, share * beside)
    const retries = load.retries - stay.retries
    return retries + 1 <= most || (most >= 1 && retries === stay.calls - 1)
  }

  /** The request calls no provider any more. */
  end(): void {
    for (const { provider, load } of this.#stays ?? []) {
      if (--load.active > 0) continue
      load.begun = load.retries = 0
      if (this.#loads.size > kept) this.#loads.delete(provider)
    }
  }

  #find(provider: string): Stay | undefined {
    return this.#stays?.find((stay) => stay.provider === provider)
  }

  #enter(provider: string): Stay {
    let load = this.#loads.get(provider)
    if (load === undefined) this.#loads.set(provider, (load = { active: 0, begun: 0, retries: 0 }))
    const { active, begun, retries } = load
    load.active++
    load.begun++
    const stay = { provider, load, active, begun, retries, calls: 0 }
    if (this.#stays) this.#stays.push(stay)
    else this.#stays = [stay]
    return stay
  }
}
