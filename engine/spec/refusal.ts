/** Thrown while something is opened or built: what is wrong with its settings, and where in them. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  /** Steps from its settings to the value; none: the settings as a whole. */
  readonly path: readonly (string | number)[]

  constructor(message: string, path: readonly (string | number)[] = []) {
    super(message)
    this.path = path
  }
}
