import { findPackageJSON } from 'node:module'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * What the product brings, by absolute path. It is there without a word in the configuration, and a user's file or
 * component of the same name wins. What is absent here is not brought: tests and fixtures leave parts out.
 */
export interface Shipped {
  /** Folder of the plugins. */
  readonly plugins?: string
  /** Folder of the pipelines and their fixtures. */
  readonly pipelines?: string
  /** The configuration that holds where `defaultConfigFile` is not there. */
  readonly config?: string
}

/** Where a configuration is looked for when nobody names one. Only there it may be missing. */
export const defaultConfigFile = 'config/sluice.yaml'

const here = dirname(fileURLToPath(import.meta.url))
const home = dirname(findPackageJSON('.', import.meta.url) ?? here)

/** What this checkout or this installed package brings. */
export const shipped: Required<Shipped> = {
  // From the sources in a checkout, from the build in the package: beside the engine that runs.
  plugins: join(here, '..', '..', 'plugins'),
  pipelines: join(home, 'pipelines'),
  config: join(home, 'config', 'sluice.yaml'),
}

/** Whether a file or folder is a folder, or lies below it. Both are real paths. */
export function isWithin(path: string, folder: string | undefined): boolean {
  return folder !== undefined && (path === folder || path.startsWith(folder + sep))
}
