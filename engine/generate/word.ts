/** A name that somebody else chose, fit for a loss: losses reach headers and logs, so anything but a word is withheld. */
export function word(name: unknown): string {
  return typeof name === 'string' && /^[\w.-]{1,64}$/.test(name) ? name : 'unknown'
}
