import { registerHooks } from 'node:module'
import type { ResolveFnOutput } from 'node:module'
import { pathToFileURL } from 'node:url'
import { moduleBeside } from './module-beside.ts'

/**
 * Files that are loaded and reloaded together, such as a plugin's folder. Node keeps every loaded module, so a changed
 * unit is imported under new URLs (`?v=<hash>`), and so are its relative imports. Modules outside of the unit (the
 * engine, packages) keep their instances. Old versions stay in memory until the process ends.
 */
export interface Unit {
  readonly files: readonly string[]
  /** Hash of the files' contents. */
  readonly hash: string
}

/** Specifiers under which any plugin imports the running engine, never a second copy of it. */
const doors: ReadonlyMap<string, string> = new Map([
  ['sluice', moduleBeside('../index', import.meta.url).href],
  ['sluice/kit', moduleBeside('../kit', import.meta.url).href],
])

const packageScheme = 'plugin-package:'
const members = new Map<string, ReadonlySet<string>>()
const firstLoaded = new Map<string, string>()
let hooked = false

/** The default export of a file, in the current version of its unit. */
export async function importFile(file: string, unit: Unit): Promise<unknown> {
  const address = pathToFileURL(file).href
  hookModules()
  const first = firstLoaded.get(address) ?? unit.hash
  firstLoaded.set(address, first)
  return defaultExport(await import(first === unit.hash ? address : versioned(address, unit)))
}

/** The default export of an npm package, resolved like an import in the file `from`. */
export async function importPackage(name: string, from: string): Promise<unknown> {
  hookModules()
  return defaultExport(
    await import(`${packageScheme}${encodeURIComponent(name)}?from=${encodeURIComponent(pathToFileURL(from).href)}`),
  )
}

function versioned(address: string, unit: Unit): string {
  members.set(unit.hash, new Set(unit.files.map((file) => pathToFileURL(file).href)))
  return `${address}?v=${unit.hash}`
}

function defaultExport(module: { readonly default?: unknown }): unknown {
  return module.default
}

/**
 * Makes this thread resolve modules as plugins expect: `sluice` is the running engine, a TypeScript file is an ES
 * module regardless of the nearest package.json, and a changed unit is found under its new URLs.
 */
export function hookModules(): void {
  if (hooked) return
  hooked = true
  registerHooks({
    resolve(specifier, context, next) {
      const door = doors.get(specifier)
      if (door !== undefined) return { url: door, shortCircuit: true }
      if (specifier.startsWith(packageScheme)) {
        const { pathname, searchParams } = new URL(specifier)
        return next(decodeURIComponent(pathname), { ...context, parentURL: searchParams.get('from') ?? undefined })
      }
      const found = asModule(next(specifier, context))
      const version =
        context.parentURL === undefined ? null : (URL.parse(context.parentURL)?.searchParams.get('v') ?? null)
      if (version === null || members.get(version)?.has(found.url) !== true) return found
      return { ...found, url: `${found.url}?v=${version}` }
    },
  })
}

function asModule(found: ResolveFnOutput): ResolveFnOutput {
  return URL.parse(found.url)?.pathname.endsWith('.ts') ? { ...found, format: 'module-typescript' } : found
}
