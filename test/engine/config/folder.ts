import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** A temporary folder with these files in it. */
export interface TestFolder {
  readonly path: string
  write(files: Record<string, string>): Promise<void>
  remove(): Promise<void>
}

export async function testFolder(files: Record<string, string> = {}): Promise<TestFolder> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'sluice-test-')))
  const write = async (more: Record<string, string>) => {
    for (const [name, text] of Object.entries(more)) {
      await mkdir(dirname(join(path, name)), { recursive: true })
      await writeFile(join(path, name), text)
    }
  }
  await write(files)
  return { path, write, remove: () => rm(path, { recursive: true, force: true }) }
}
