/** A view was used while its service is closed. */
export class NotOpen extends Error {
  override readonly name = 'NotOpen'
  /** Whether the reason is already reported as a finding. */
  readonly told: boolean

  constructor(service: string, told: boolean) {
    super(`the service "${service}" is not open while a configuration is checked; call its view in "run" alone`)
    this.told = told
  }
}

/** A placeholder for the view of a closed service. It may be stored and passed on, and throws when it is used. */
export function closedView(service: string, told: boolean): unknown {
  const refuse = () => {
    throw new NotOpen(service, told)
  }
  return new Proxy(refuse, { apply: refuse, get: refuse, has: refuse, ownKeys: refuse, set: refuse })
}
