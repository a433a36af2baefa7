import { extname } from 'node:path'

/**
 * URL of the module `name` (without extension) in the folder of the module `from` (`import.meta.url`), with the
 * extension of `from`: both run from source, or both from the build. The URL of a reloaded plugin has a query after its
 * extension.
 */
export function moduleBeside(name: string, from: string): URL {
  return new URL(`./${name}${extname(new URL(from).pathname)}`, from)
}
