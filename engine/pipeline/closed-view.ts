/** A view was used while its service is not open. */
export class NotOpen extends Error {
  override readonly name = 'NotOpen'
  /** Whether why it is not open is a finding already. */
  readonly told: boolean

  constructor(service: string, told: boolean) {
    super(`the service "${service}" is not open while a configuration is checked; call its view in "run" alone`)
    this.told = told
  }
}

/** Stands for the view of a service that is not open: it can be kept and handed on, and throws when it is used. */
export function closedView(service: string, told: boolean): unknown {
  const refuse = () => {
    throw new NotOpen(service, told)
  }
  return new Proxy(refuse, { apply: refuse, get: refuse, has: refuse, ownKeys: refuse, set: refuse })
}
