import { extname } from 'node:path'

/**
 * Address of the module `name` (without its ending) in the folder of the module `from` (`import.meta.url`): both run
 * from source, or both from the build. The address of a plugin that was loaded again has a query behind its ending.
 */
export function moduleBeside(name: string, from: string): URL {
  return new URL(`./${name}${extname(new URL(from).pathname)}`, from)
}
