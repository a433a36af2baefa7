/** Characters of a model's name: longer ones fit no pattern. */
const longest = 256

/** Whether the name of a model's record stands for many models: it ends in `*`. */
export function isPattern(name: string): boolean {
  return name.endsWith('*')
}

/**
 * The pattern that a name fits, the longest where several do, and what its `*` stands for: at least one character, none
 * of them a space or a control character.
 */
export function fitting(name: string, patterns: Iterable<string>): { pattern: string; rest: string } | undefined {
  if (name.length > longest || !/^[\x21-\x7e\u00a1-\uffff]+$/.test(name) || name.includes('*')) return undefined
  let found: string | undefined
  for (const pattern of patterns) {
    const prefix = pattern.slice(0, -1)
    if (!isPattern(pattern) || name.length <= prefix.length || !name.startsWith(prefix)) continue
    if (found === undefined || pattern.length > found.length) found = pattern
  }
  return found === undefined ? undefined : { pattern: found, rest: name.slice(found.length - 1) }
}

/** Whether a list of models, as an API key has one, holds a model: by its name, or by a pattern that it fits. */
export function holds(models: ReadonlySet<string>, name: string): boolean {
  return models.has(name) || fitting(name, models) !== undefined
}
