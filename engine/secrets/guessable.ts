/** Words of secrets that somebody typed. */
const words =
  /passwor[dt]|passwd|secret|changeme|change-me|letmein|welcome|qwert[yz]|admin|master|test|example|sluice|token|key|abc|123\d*/g

/** Fewest characters, and fewest different ones beside such words, of a secret that nobody guesses. */
const [fewest, fewestDifferent] = [12, 6]

/** Why a secret can be guessed; undefined: it cannot. */
export function guessableBy(secret: string): string | undefined {
  if (secret.length < fewest) return `it has fewer than ${fewest} characters`
  if (new Set(secret).size < fewestDifferent) return 'it repeats a few characters'
  const rest = secret.toLowerCase().replace(words, '')
  return new Set(rest).size < fewestDifferent ? 'it is made of common words' : undefined
}
