import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A page with the licences of all packages to which these modules belong. */
export function licencesOf(modules: readonly string[]): string {
  const folders = new Set(modules.filter((id) => id.includes('node_modules')).map(packageOf))
  const parts = [...folders].map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
    const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one))
    const text =
      file === undefined ? 'The package has no file with its licence.' : readFileSync(join(folder, file), 'utf8')
    return `\n## ${name} ${version} (${license})\n\n${text.trim()}\n`
  })
  return `# Packages whose code is part of this one\n${parts.sort().join('')}`
}

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license: string
}

/** The folder of a module's package: the nearest one with a name. */
function packageOf(module: string): string {
  for (let folder = dirname(module.replace(/^\0/, '').replace(/\?.*$/, '')); ; folder = dirname(folder)) {
    const file = join(folder, 'package.json')
    if (existsSync(file) && 'name' in (JSON.parse(readFileSync(file, 'utf8')) as object)) return folder
  }
}
