/** Whether the value of a field, header, variable or option of this name is a secret. */
export function isSecretName(name: string): boolean {
  return /key|token|passw|passphrase|pwd|secret|auth|credential|cookie|signature|(?:^|[^a-z])pat$/i.test(name)
}

/** Words of a name that make it that of a secret. */
const secretWord =
  /^(?:(?:api|access|secret|private)?keys?|(?:auth)?tokens?|secrets?|password|passwd|passphrase|pass|pwd|auth|authorization|credentials?|cookie|signature|pat)\d*$/

/** Whether the value of a variable is a secret, by the words of its name: that of `API_KEY`, not of `KEYWORD_MODEL`. */
export function isSecretVariable(name: string): boolean {
  const words = name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase()
  return words.split('_').some((word) => secretWord.test(word))
}

/** Words that services begin their keys with. */
const keyBegin =
  /(?:^|[^A-Za-z0-9])(?:(?:sk|pk|rk|gh[oprsu]|github_pat|glpat|xox[abeprs]|hf|gsk|xai|pplx|shpat|whsec|npm|pat|tvly)[-_][A-Za-z0-9]|AKIA[A-Z0-9]|AIza|eyJ\w)/
/** Credentials as headers and settings have them. */
const credential =
  /\b(?:bearer|basic|digest|token|api-?key)\s{1,8}\S|:\/\/[^/]{0,256}@|(?:key|token|secret|password|pwd|auth)["']?\s{0,8}[=:]/i
/** Parts of a text that say what they are: numbers, words, `camelCase`, short codes such as `v1` or `30s`. */
const plainPart = /^(?:\d{1,8}|[A-Z]{1,24}|(?=.{1,24}$)[A-Za-z][a-z]{0,23}(?:[A-Z][a-z]{2,23}){0,8}|[A-Za-z\d]{1,6})$/

/** Whether an address has credentials: a user, a query, or a part of its path that nobody can guess. */
export function isSecretAddress(text: string): boolean {
  const url = URL.parse(text)
  if (url === null) return credential.test(text) || keyBegin.test(text)
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') return true
  return keyBegin.test(url.pathname) || url.pathname.split(/[^A-Za-z0-9]+/).some(isRandom)
}

/** Whether a text is plainly no secret, so that it may stand in a file that others read. */
export function isHarmless(text: string): boolean {
  if (text.length > 128 || keyBegin.test(text) || credential.test(text)) return false
  if (text.includes('://') && isSecretAddress(text)) return false
  const digits = text.replaceAll(/\D/g, '').length
  return digits <= 12 && text.split(/[\s\-_./:,@+]+/).every((part) => part === '' || plainPart.test(part))
}

/** Parts of names of models that are no words: `qwen2p5`, `mixtral8x7b`. */
const modelPart = /(?<![A-Za-z\d])[a-z]{2,16}\d{1,3}(?:[a-z]\d{0,2}[a-z]?)?(?![A-Za-z\d])/g

/** Whether a text that names a model is plainly no secret. */
export function isModelName(text: string): boolean {
  return !isSecretAddress(text) && isHarmless(text.replaceAll(modelPart, 'model'))
}

function isRandom(part: string): boolean {
  return part.length >= 32 || (part.length >= 12 && /\d/.test(part) && /[A-Za-z]/.test(part))
}
