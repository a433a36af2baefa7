import { findPackageJSON } from 'node:module'
import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The parts of the product, by absolute path. They need no configuration, and a user's file or component of the same
 * name replaces them. Tests and fixtures leave parts out.
 */
export interface Shipped {
  /** Folder of the plugins. */
  readonly plugins?: string
  /** Folder of the pipelines and their fixtures. */
  readonly pipelines?: string
  /** The configuration used if `defaultConfigFile` does not exist. */
  readonly config?: string
}

/** The default path of the configuration file. Only a file at this path may be missing. */
export const defaultConfigFile = 'config/sluice.yaml'

const here = dirname(fileURLToPath(import.meta.url))
const home = dirname(findPackageJSON('.', import.meta.url) ?? here)

/** The parts of this checkout or installed package. */
export const shipped: Required<Shipped> = {
  // Next to the running engine: sources in a checkout, the build in a package.
  plugins: join(here, '..', '..', 'plugins'),
  pipelines: join(home, 'pipelines'),
  config: join(home, 'config', 'sluice.yaml'),
}

/** The name of a file for clients: an absolute path within the package is shown relative to the package. */
export function withinPackage(file: string): string {
  return isShipped(file) ? relative(home, file) : file
}

/** A text for clients, in which no file is named by its place on the machine. */
export function withoutPlaces(text: string, root: string): string {
  return [root, home].reduce((shown, folder) => shown.replaceAll(folder + sep, ''), text)
}

/** Whether an absolute path is below the package. */
export function isShipped(file: string): boolean {
  return isAbsolute(file) && isWithin(file, home)
}

/** Whether a path is a folder or below it. Both are real paths. */
export function isWithin(path: string, folder: string | undefined): boolean {
  return folder !== undefined && (path === folder || path.startsWith(folder + sep))
}
