import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const shipped = join(import.meta.dirname, '..', '..', 'pipelines')

/** The shipped pipelines in a folder of their own, where tests may change them. */
export interface Pipelines {
  readonly folder: string
  /** Replaces a text that stands in a file; throws when it does not. */
  edit(file: string, from: string | RegExp, to: string): Promise<void>
  remove(): Promise<void>
}

/** @param others folders of further ones */
export async function copyPipelines(...others: readonly string[]): Promise<Pipelines> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-pipelines-'))
  for (const from of [shipped, ...others])
    for (const name of await readdir(from))
      if (name.endsWith('.yaml') && !name.endsWith('.test.yaml'))
        await writeFile(join(folder, name), await readFile(join(from, name)))
  return {
    folder,
    async edit(file, from, to) {
      const path = join(folder, file)
      const text = await readFile(path, 'utf8')
      if (text.search(typeof from === 'string' ? RegExp.escape(from) : from) < 0)
        throw new Error(`${file} does not say "${from}"`)
      await writeFile(path, text.replace(from, to))
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
