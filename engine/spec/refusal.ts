/**
 * Thrown when a component is opened or built with settings it cannot accept: the reason, and its place in the
 * settings.
 */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  /** Path to the value in the settings; empty: the settings as a whole. */
  readonly path: readonly (string | number)[]

  constructor(message: string, path: readonly (string | number)[] = []) {
    super(message)
    this.path = path
  }
}
